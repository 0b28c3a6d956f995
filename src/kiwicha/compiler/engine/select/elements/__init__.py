"""Element-wise layers in the engine's terms."""
