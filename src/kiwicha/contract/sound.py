"""Sound as models, recordings and a system's microphone have it."""

__all__ = ["RATE_HZ"]

RATE_HZ = 16_000
"""Samples per second: of one channel, 16 bits."""
