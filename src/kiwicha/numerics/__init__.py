"""Integer arithmetic of quantized operators, defined once, in numpy."""
