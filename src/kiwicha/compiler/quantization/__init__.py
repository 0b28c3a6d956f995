"""Fixed-point parameters of operators."""
