"""Models from Python, in the shape of the TensorFlow Lite interpreter."""
