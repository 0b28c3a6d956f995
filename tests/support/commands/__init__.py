"""The command line inside a test, and runs as it writes them."""
