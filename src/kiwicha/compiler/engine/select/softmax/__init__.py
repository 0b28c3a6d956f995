"""SOFTMAX in the engine's terms."""
