"""TFLite models: the file, the graph, the operators and their geometry."""
