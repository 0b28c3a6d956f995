"""SSDLite detectors: a backbone, four more maps, and heads of boxes and classes on six maps."""

from kiwicha.gallery.architectures.mobilenet import inverted_residual
from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["ssdlite_mobiledet", "ssdlite_mobilenet3"]

CLASSES = 91
BOX = 4
ANCHORS = (3, 6, 6, 6, 6, 6)
EXTRA = ((256, 512), (128, 256), (128, 256), (64, 128))
"""Channels between and behind, for each further map."""
V3_BLOCKS = (
    *((3, 16, 16, False, "relu", 1), (3, 64, 24, False, "relu", 2)),
    *((3, 72, 24, False, "relu", 1), (5, 72, 40, True, "relu", 2)),
    *((5, 120, 40, True, "relu", 1),) * 2,
    *((3, 240, 80, False, "hard_swish", 2), (3, 200, 80, False, "hard_swish", 1)),
    *((3, 184, 80, False, "hard_swish", 1),) * 2,
    *((3, 480, 112, True, "hard_swish", 1), (3, 672, 112, True, "hard_swish", 1)),
    *((5, 672, 160, True, "hard_swish", 2),),
    *((5, 960, 160, True, "hard_swish", 1),) * 2,
)
"""Kernel, channels inside and behind, squeeze-excite, activation and stride of each block."""
V3_FIRST_MAP = 12
"""Blocks in front of the first map."""


def ssdlite_mobilenet3(net: Network) -> list[Tensor]:
    """Return boxes and class scores of SSDLite on MobileNetV3-Large."""
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(16), kernel=3, stride=2, activation="hard_swish")
    for number, block in enumerate(V3_BLOCKS):
        if number == V3_FIRST_MAP:
            first = x
        x = _v3_block(net, x, *block)
    last = net.conv(x, net.wide(960), activation="hard_swish")
    return _heads(net, [first, last])


def ssdlite_mobiledet(net: Network) -> list[Tensor]:
    """Return boxes and class scores of SSDLite on a MobileDet of full convolutions."""
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(32), kernel=3, stride=2, activation="relu6")
    x = _tucker(net, x, net.wide(16))
    x = _fused(net, x, net.wide(16), 8, stride=2)
    for expansion in (4, 8, 4):
        x = _fused(net, x, net.wide(16), expansion)
    x = _fused(net, x, net.wide(40), 8, stride=2, kernel=5)
    for _ in range(3):
        x = _fused(net, x, net.wide(40), 4)
    x = inverted_residual(net, x, net.wide(72), expansion=8, stride=2)
    x = inverted_residual(net, x, net.wide(72), expansion=8, stride=1)
    for _ in range(2):
        x = _fused(net, x, net.wide(72), 4)
    for kernel in (5, 5, 3, 3):
        x = inverted_residual(net, x, net.wide(96), expansion=8, stride=1, kernel=kernel)
    first = x
    x = inverted_residual(net, x, net.wide(120), expansion=8, stride=2, kernel=5)
    for expansion, kernel in ((8, 3), (4, 5), (8, 3)):
        x = inverted_residual(net, x, net.wide(120), expansion=expansion, stride=1, kernel=kernel)
    last = inverted_residual(net, x, net.wide(384), expansion=8, stride=1, kernel=5)
    return _heads(net, [first, last])


def _v3_block(
    net: Network,
    x: Tensor,
    kernel: int,
    inside: int,
    behind: int,
    has_squeeze: bool,
    activation: str,
    stride: int,
) -> Tensor:
    y = x
    if net.wide(inside) != x.shape[3]:
        y = net.conv(y, net.wide(inside), activation=activation)
    y = net.depthwise(y, kernel=kernel, stride=stride, activation=activation)
    if has_squeeze:
        y = _squeeze_excite(net, y)
    y = net.conv(y, net.wide(behind))
    return net.add(x, y) if y.shape == x.shape else y


def _squeeze_excite(net: Network, x: Tensor) -> Tensor:
    """Scale each channel by what its mean and those of the others say."""
    channels = x.shape[3]
    y = net.conv(net.mean(x, keep=True), max(8, channels // 4), activation="relu")
    return net.mul(x, net.conv(y, channels, activation="hard_sigmoid"))


def _fused(
    net: Network, x: Tensor, channels: int, expansion: int, stride: int = 1, kernel: int = 3
) -> Tensor:
    """Add a block that widens and narrows again with full convolutions."""
    y = net.conv(x, x.shape[3] * expansion, kernel=kernel, stride=stride, activation="relu6")
    y = net.conv(y, channels)
    return net.add(x, y) if y.shape == x.shape else y


def _tucker(net: Network, x: Tensor, channels: int) -> Tensor:
    """Add a full convolution between two that narrow and widen."""
    y = net.conv(x, max(8, x.shape[3] // 4), activation="relu6")
    y = net.conv(y, max(8, channels * 3 // 4), kernel=3, activation="relu6")
    return net.conv(y, channels)


def _heads(net: Network, maps: list[Tensor]) -> list[Tensor]:
    for between, behind in EXTRA:
        y = net.conv(maps[-1], net.wide(between), activation="relu6")
        y = net.depthwise(y, stride=2, activation="relu6")
        maps.append(net.conv(y, net.wide(behind), activation="relu6"))
    boxes = [_head(net, x, anchors, BOX) for x, anchors in zip(maps, ANCHORS, strict=True)]
    scores = [_head(net, x, anchors, CLASSES) for x, anchors in zip(maps, ANCHORS, strict=True)]
    return [net.concat(boxes, axis=1), net.logistic(net.concat(scores, axis=1))]


def _head(net: Network, x: Tensor, anchors: int, values: int) -> Tensor:
    y = net.conv(net.depthwise(x, activation="relu6"), anchors * values)
    return net.reshape(y, 1, x.shape[1] * x.shape[2] * anchors, values)
