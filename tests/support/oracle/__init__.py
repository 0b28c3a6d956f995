"""The interpreters that define a model's answer, and arithmetic in Python's integers."""
