"""EfficientNet-Lite0: inverted residuals with depthwise kernels of 3x3 and 5x5."""

from kiwicha.gallery.architectures.mobilenet import inverted_residual
from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["efficientnet_lite0"]

CLASSES = 1000
STAGES = (
    *((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3)),
    *((6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)),
)
"""Expansion, channels, repeats, stride and kernel of each stage."""


def efficientnet_lite0(net: Network) -> list[Tensor]:
    """Return the logits of EfficientNet-Lite0."""
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(32), kernel=3, stride=2, activation="relu6")
    for expansion, channels, repeats, stride, kernel in STAGES:
        for number in range(repeats):
            x = inverted_residual(
                net, x, net.wide(channels), expansion=expansion,
                stride=1 if number else stride, kernel=kernel,
            )  # fmt: skip
    x = net.conv(x, net.wide(1280), activation="relu6")
    return [net.dense(net.mean(x), CLASSES)]
