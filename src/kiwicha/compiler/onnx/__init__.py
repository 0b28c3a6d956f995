"""The ONNX front end: from a model in QDQ form to the graph that the TFLite reader gives, too."""
