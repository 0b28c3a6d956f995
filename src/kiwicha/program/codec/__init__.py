"""Lossless coding of weight streams."""
