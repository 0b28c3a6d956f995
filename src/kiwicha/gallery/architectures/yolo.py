"""YOLOv5n and YOLOv8n: cross-stage blocks, chained max pools, upsampling, three heads, SiLU."""

from collections.abc import Callable

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["yolov5n", "yolov8n"]

CLASSES = 80
ANCHORS = 3
BINS = 16
"""Of the distribution that YOLOv8 gives for each side of a box."""
BOX = 4

_Block = Callable[..., Tensor]


def yolov5n(net: Network) -> list[Tensor]:
    """Return what YOLOv5n says of each anchor, [1, anchors, 85]."""
    features = _pyramid(net, _stem5(net), _c3, (1, 2, 3, 1), _lateral5)
    values = BOX + 1 + CLASSES
    found = []
    for x in features:
        y = net.logistic(net.conv(x, ANCHORS * values))
        found.append(net.reshape(y, 1, x.shape[1] * x.shape[2] * ANCHORS, values))
    return [net.concat(found, axis=1)]


def yolov8n(net: Network) -> list[Tensor]:
    """Return YOLOv8n's boxes, [1, 4, positions], and scores, [1, 80, positions]."""
    features = _pyramid(net, _stem8(net), _c2f, (1, 2, 2, 1), lambda _, x: x)
    found = []
    for x in features:
        y = net.concat([
            _head(net, x, max(16, features[0].shape[3] // 4, BOX * BINS), BOX * BINS),
            _head(net, x, max(features[0].shape[3], min(CLASSES, 100)), CLASSES),
        ])
        found.append(net.reshape(y, 1, x.shape[1] * x.shape[2], BOX * BINS + CLASSES))
    joined = net.transpose(net.concat(found, axis=1), 0, 2, 1)
    sides, scores = net.split(joined, [BOX * BINS, CLASSES], axis=1)
    return [_expected_bin(net, sides), net.logistic(scores)]


def _expected_bin(net: Network, x: Tensor) -> Tensor:
    """Return the mean of a distribution over bins, by a SOFTMAX and a convolution."""
    positions = x.shape[2]
    y = net.transpose(net.reshape(x, 1, BOX, BINS, positions), 0, 3, 1, 2)
    y = net.conv(net.softmax(y), 1)
    return net.transpose(net.reshape(y, 1, positions, BOX), 0, 2, 1)


def _head(net: Network, x: Tensor, channels: int, outputs: int) -> Tensor:
    for _ in range(2):
        x = net.conv(x, channels, kernel=3, activation="silu")
    return net.conv(x, outputs)


def _stem5(net: Network) -> Tensor:
    x = net.input(net.size, net.size, 3)
    return net.conv(x, net.wide(16), kernel=6, stride=2, activation="silu")


def _stem8(net: Network) -> Tensor:
    x = net.input(net.size, net.size, 3)
    return net.conv(x, net.wide(16), kernel=3, stride=2, activation="silu")


def _pyramid(
    net: Network,
    x: Tensor,
    block: _Block,
    repeats: tuple[int, ...],
    lateral: Callable[[Network, Tensor], Tensor],
) -> list[Tensor]:
    """Return features at an eighth, a sixteenth and a thirty-second of the size."""
    levels = []
    for channels, count in zip((32, 64, 128, 256), repeats, strict=True):
        x = net.conv(x, net.wide(channels), kernel=3, stride=2, activation="silu")
        x = block(net, x, net.wide(channels), count)
        levels.append(x)
    top = lateral(net, _pool_chain(net, x))
    middle = block(
        net, net.concat([net.upsample(top), levels[2]]), net.wide(128), 1, is_residual=False
    )
    middle = lateral(net, middle)
    bottom = block(
        net, net.concat([net.upsample(middle), levels[1]]), net.wide(64), 1, is_residual=False
    )
    features = [bottom]
    for below, channels in ((middle, 128), (top, 256)):
        down = features[-1].shape[3]
        x = net.conv(features[-1], down, kernel=3, stride=2, activation="silu")
        joined = net.concat([x, below])
        features.append(block(net, joined, net.wide(channels), 1, is_residual=False))
    return features


def _lateral5(net: Network, x: Tensor) -> Tensor:
    return net.conv(x, x.shape[3] // 2, activation="silu")


def _pool_chain(net: Network, x: Tensor) -> Tensor:
    """Add SPPF: max pools of 5x5, each behind the other, joined."""
    channels = x.shape[3]
    pools = [net.conv(x, channels // 2, activation="silu")]
    for _ in range(3):
        pools.append(net.max_pool(pools[-1], 5, stride=1))
    return net.conv(net.concat(pools), channels, activation="silu")


def _c3(
    net: Network, x: Tensor, channels: int, repeats: int, *, is_residual: bool = True
) -> Tensor:
    """Add a cross-stage block of YOLOv5: bottlenecks beside a convolution."""
    half = channels // 2
    y, beside = (net.conv(x, half, activation="silu") for _ in range(2))
    for _ in range(repeats):
        y = _bottleneck(net, y, 1, is_residual)
    return net.conv(net.concat([y, beside]), channels, activation="silu")


def _c2f(
    net: Network, x: Tensor, channels: int, repeats: int, *, is_residual: bool = True
) -> Tensor:
    """Add a cross-stage block of YOLOv8: each bottleneck's output goes to the end, too."""
    half = channels // 2
    parts = net.split(net.conv(x, channels, activation="silu"), [half, half])
    for _ in range(repeats):
        parts.append(_bottleneck(net, parts[-1], 3, is_residual))
    return net.conv(net.concat(parts), channels, activation="silu")


def _bottleneck(net: Network, x: Tensor, kernel: int, is_residual: bool) -> Tensor:
    y = net.conv(x, x.shape[3], kernel=kernel, activation="silu")
    y = net.conv(y, x.shape[3], kernel=3, activation="silu")
    return net.add(x, y) if is_residual else y
