"""The engine's operations, and what holds for all of them."""
