"""Models that break one rule each of what is supported, and the refusals."""
