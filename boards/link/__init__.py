"""The serial line to a board, and sessions over it."""
