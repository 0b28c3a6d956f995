"""What generates documents and results; not installed."""
