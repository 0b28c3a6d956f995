"""Descriptors and weight streams."""
