"""The multiplier array."""
