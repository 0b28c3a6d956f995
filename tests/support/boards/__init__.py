"""Boards that are simulated, or err on demand."""
