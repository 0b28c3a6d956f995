"""Passes from network to network, and what is proven of values on the way."""
