"""MobileNetV1 and V2: depthwise convolutions and inverted residuals."""

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["inverted_residual", "mobilenet1", "mobilenet2"]

CLASSES = 1000
V1_PAIRS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)
"""Channels and stride of each depthwise and pointwise pair."""
V2_STAGES = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""Expansion, channels, repeats and stride of each stage."""


def mobilenet1(net: Network) -> list[Tensor]:
    """Return the logits of MobileNetV1."""
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(32), kernel=3, stride=2, activation="relu6")
    for channels, stride in V1_PAIRS:
        x = net.depthwise(x, stride=stride, activation="relu6")
        x = net.conv(x, net.wide(channels), activation="relu6")
    return [net.dense(net.mean(x), CLASSES)]


def mobilenet2(net: Network) -> list[Tensor]:
    """Return the logits of MobileNetV2."""
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(32), kernel=3, stride=2, activation="relu6")
    for expansion, channels, repeats, stride in V2_STAGES:
        for number in range(repeats):
            x = inverted_residual(
                net, x, net.wide(channels), expansion=expansion, stride=1 if number else stride
            )
    x = net.conv(x, net.wide(1280), activation="relu6")
    return [net.dense(net.mean(x), CLASSES)]


def inverted_residual(
    net: Network, x: Tensor, channels: int, *, expansion: int, stride: int, kernel: int = 3
) -> Tensor:
    """Add a block that widens its input, convolves it depthwise and narrows it again."""
    y = x
    if expansion > 1:
        y = net.conv(y, x.shape[3] * expansion, activation="relu6")
    y = net.depthwise(y, kernel=kernel, stride=stride, activation="relu6")
    y = net.conv(y, channels)
    return net.add(x, y) if y.shape == x.shape else y
