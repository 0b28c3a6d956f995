"""Writes .tflite files: `builder` collects a model, `tables` writes the schema's tables."""
