"""The custom instructions of the CPU."""
