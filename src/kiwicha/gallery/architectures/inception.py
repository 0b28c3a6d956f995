"""Inception-v3: parallel branches with kernels of 1x7 and 7x1, joined by channels."""

from collections.abc import Sequence

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor
from kiwicha.gallery.weighted import Kernel

__all__ = ["inception3"]

CLASSES = 1000


def inception3(net: Network) -> list[Tensor]:
    """Return the logits of Inception-v3."""
    x = net.input(net.size, net.size, 3)
    x = _relu(net, x, 32, 3, stride=2, padding="VALID")
    x = _relu(net, x, 32, 3, padding="VALID")
    x = net.max_pool(_relu(net, x, 64, 3), 3, stride=2, padding="VALID")
    x = _relu(net, x, 80, 1)
    x = net.max_pool(_relu(net, x, 192, 3, padding="VALID"), 3, stride=2, padding="VALID")
    for pooled in (32, 64, 64):
        x = _block_35(net, x, pooled)
    x = _reduction_35(net, x)
    for channels in (128, 160, 160, 192):
        x = _block_17(net, x, channels)
    x = _reduction_17(net, x)
    for _ in range(2):
        x = _block_8(net, x)
    return [net.dense(net.mean(x), CLASSES)]


def _relu(
    net: Network, x: Tensor, channels: int, kernel: Kernel, stride: int = 1, padding: str = "SAME"
) -> Tensor:
    return net.conv(
        x, net.wide(channels), kernel=kernel, stride=stride, padding=padding, activation="relu"
    )


def _chain(net: Network, x: Tensor, layers: Sequence[tuple[int, Kernel]]) -> Tensor:
    """Add convolutions of these channels and kernels, one after the other."""
    for channels, kernel in layers:
        x = _relu(net, x, channels, kernel)
    return x


def _pooled(net: Network, x: Tensor, channels: int) -> Tensor:
    return _relu(net, net.average_pool(x, 3, stride=1), channels, 1)


def _block_35(net: Network, x: Tensor, pooled: int) -> Tensor:
    return net.concat([
        _chain(net, x, [(64, 1)]),
        _chain(net, x, [(48, 1), (64, 5)]),
        _chain(net, x, [(64, 1), (96, 3), (96, 3)]),
        _pooled(net, x, pooled),
    ])


def _reduction_35(net: Network, x: Tensor) -> Tensor:
    return net.concat([
        _relu(net, x, 384, 3, stride=2, padding="VALID"),
        _relu(net, _chain(net, x, [(64, 1), (96, 3)]), 96, 3, stride=2, padding="VALID"),
        net.max_pool(x, 3, stride=2, padding="VALID"),
    ])


def _block_17(net: Network, x: Tensor, c: int) -> Tensor:
    row, column = (1, 7), (7, 1)
    return net.concat([
        _chain(net, x, [(192, 1)]),
        _chain(net, x, [(c, 1), (c, row), (192, column)]),
        _chain(net, x, [(c, 1), (c, column), (c, row), (c, column), (192, row)]),
        _pooled(net, x, 192),
    ])


def _reduction_17(net: Network, x: Tensor) -> Tensor:
    mixed = _chain(net, x, [(192, 1), (192, (1, 7)), (192, (7, 1))])
    return net.concat([
        _relu(net, _chain(net, x, [(192, 1)]), 320, 3, stride=2, padding="VALID"),
        _relu(net, mixed, 192, 3, stride=2, padding="VALID"),
        net.max_pool(x, 3, stride=2, padding="VALID"),
    ])


def _block_8(net: Network, x: Tensor) -> Tensor:
    narrow = _chain(net, x, [(384, 1)])
    wide = _chain(net, x, [(448, 1), (384, 3)])
    return net.concat([
        _chain(net, x, [(320, 1)]),
        *(_relu(net, narrow, 384, kernel) for kernel in ((1, 3), (3, 1))),
        *(_relu(net, wide, 384, kernel) for kernel in ((1, 3), (3, 1))),
        _pooled(net, x, 192),
    ])
