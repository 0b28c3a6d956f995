"""C sources of the firmware, and the functions that build them."""
