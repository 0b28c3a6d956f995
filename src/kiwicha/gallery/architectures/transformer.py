"""Transformers: attention between tokens."""

from kiwicha.gallery.architectures.mixer import KEYWORDS, keyword_tokens, token_mean
from kiwicha.gallery.attention import encode
from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["keyword_transformer"]

_BLOCKS, _HEADS = 4, 4


def keyword_transformer(net: Network) -> list[Tensor]:
    """Return the logits of a keyword transformer behind a convolutional stem."""
    x = keyword_tokens(net)
    _, tokens, channels = x.shape
    positions = net.drawn(tokens * channels, -0.5, 0.5).reshape(tokens, channels)
    x = net.with_constant(x, positions)
    for _ in range(_BLOCKS):
        x = encode(net, x, heads=_HEADS, hidden=net.wide(256))
    return [net.dense(token_mean(net, x), KEYWORDS)]
