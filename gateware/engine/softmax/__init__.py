"""Rows of bytes to probabilities: reads, sums, reciprocals and writes of SOFTMAX jobs."""
