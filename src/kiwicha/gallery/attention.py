"""Layers of transformers: products of two activations, and normalization of single tokens."""

import math

import numpy as np

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["attention", "encode", "normalize_tokens"]

_EPSILON = 1e-3
"""What is added to variances, so that a token of equal numbers has an inverse."""


def attention(net: Network, x: Tensor, heads: int) -> Tensor:
    """Add self-attention of tokens [1, tokens, channels], and return what it gives each."""
    _, tokens, channels = x.shape
    depth = channels // heads
    query, key, value = (_by_heads(net, net.dense(x, channels), heads) for _ in range(3))
    scores = net.product(query, key, is_second_adjoint=True)
    weights = net.softmax(net.scaled(scores, 1 / math.sqrt(depth)))
    mixed = net.transpose(net.product(weights, value), 0, 2, 1, 3)
    return net.dense(net.reshape(mixed, 1, tokens, channels), channels)


def encode(net: Network, x: Tensor, *, heads: int, hidden: int) -> Tensor:
    """Add an encoder: attention and two dense layers, each added and normalized."""
    x = normalize_tokens(net, net.add(x, attention(net, x, heads)))
    y = net.dense(net.dense(x, hidden, activation="relu"), x.shape[2])
    return normalize_tokens(net, net.add(x, y))


def normalize_tokens(net: Network, x: Tensor) -> Tensor:
    """Add what converters make of a layer normalization."""
    mean = net.mean_of_last(x)
    variance = net.mean_of_last(net.squared_difference(x, mean))
    inverse = net.inverse_root(net.with_constant(variance, np.array(_EPSILON)))
    y = net.mul(net.subtract(x, mean), inverse)
    factors = net.drawn(x.shape[-1], 0.75, 1.25)
    offsets = net.drawn(x.shape[-1], -0.5, 0.5)
    return net.with_constant(net.scaled(y, factors), offsets)


def _by_heads(net: Network, x: Tensor, heads: int) -> Tensor:
    _, tokens, channels = x.shape
    return net.transpose(net.reshape(x, 1, tokens, heads, channels // heads), 0, 2, 1, 3)
