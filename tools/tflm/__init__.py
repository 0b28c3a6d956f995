"""Models in an application of TensorFlow Lite Micro, with our operator and without it."""
