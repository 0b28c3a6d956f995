"""DenseNet-121: each layer reads all layers of its block before it."""

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["densenet121"]

GROWTH = 32
REPEATS = (6, 12, 24, 16)
CLASSES = 1000


def densenet121(net: Network) -> list[Tensor]:
    """Return the logits of DenseNet-121."""
    growth = net.wide(GROWTH)
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, 2 * growth, kernel=7, stride=2, activation="relu")
    x = net.max_pool(x, 3, stride=2)
    for stage, repeats in enumerate(REPEATS):
        if stage:
            x = net.conv(net.normalize(x, activation="relu"), x.shape[3] // 2)
            x = net.average_pool(x, 2, stride=2)
        for _ in range(repeats):
            y = net.conv(net.normalize(x, activation="relu"), 4 * growth, activation="relu")
            x = net.concat([x, net.conv(y, growth, kernel=3)])
    return [net.dense(net.mean(net.normalize(x, activation="relu")), CLASSES)]
