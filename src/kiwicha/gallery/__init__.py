"""Architectures at full size with random weights, made at a chosen input size.

======================  ===========================================================================
`catalogue`             The architectures, and models of them by name
`architectures`         A file for each family of them
`network`               The language in which they are written
`moves`, `weighted`     Parts of it: layers that only move data, and layers with weights
`tensors`               Quantization, samples and constants of a network
`samples`               What layers do to samples, in numpy
`ranges`                Ranges of activations
======================  ===========================================================================
"""
