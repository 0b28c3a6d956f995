"""Mixers of tokens and channels: dense layers on both sides of a TRANSPOSE, without attention."""

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["KEYWORDS", "keyword_mixer", "keyword_tokens", "mlp_mixer", "token_mean"]

MELS = 40
KEYWORDS = 12
CLASSES = 1000
PATCH = 16


def keyword_tokens(net: Network) -> Tensor:
    """Return tokens of frames of sound: one for each fourth frame, of all bands."""
    x = net.input(net.size, MELS, 1)
    x = net.conv(x, net.wide(32), kernel=3, stride=2, activation="relu")
    x = net.conv(x, net.wide(64), kernel=3, stride=2, activation="relu")
    _, frames, bands, channels = x.shape
    return net.dense(net.reshape(x, 1, frames, bands * channels), net.wide(128))


def keyword_mixer(net: Network) -> list[Tensor]:
    """Return the logits of a keyword model: the stem of a keyword transformer, and a mixer."""
    x = keyword_tokens(net)
    for _ in range(6):
        x = _mix(net, x, net.wide(64), net.wide(256))
    return [net.dense(token_mean(net, x), KEYWORDS)]


def mlp_mixer(net: Network) -> list[Tensor]:
    """Return the logits of an MLP-Mixer of patches of 16x16, with RELU for GELU."""
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(256), kernel=PATCH, stride=PATCH)
    _, height, width, channels = x.shape
    x = net.reshape(x, 1, height * width, channels)
    for _ in range(8):
        x = _mix(net, x, net.wide(128), net.wide(1024))
    return [net.dense(token_mean(net, x), CLASSES)]


def _mix(net: Network, x: Tensor, tokens: int, channels: int) -> Tensor:
    y = net.transpose(x, 0, 2, 1)
    y = net.dense(net.dense(y, tokens, activation="relu"), x.shape[1])
    x = net.add(x, net.transpose(y, 0, 2, 1))
    y = net.dense(net.dense(x, channels, activation="relu"), x.shape[2])
    return net.add(x, y)


def token_mean(net: Network, x: Tensor) -> Tensor:
    """Return the mean of all tokens."""
    _, tokens, channels = x.shape
    return net.mean(net.reshape(x, 1, tokens, 1, channels))
