"""Passes that turn a TFLite model into a Program."""
