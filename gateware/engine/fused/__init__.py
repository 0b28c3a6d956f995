"""Sums of two tensors behind the convolution that gives one of them."""
