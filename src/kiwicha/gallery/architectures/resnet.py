"""ResNet-18 and ResNet-50: residual sums around pairs and triples of convolutions."""

from collections.abc import Callable

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["resnet18", "resnet50"]

CLASSES = 1000
CHANNELS = (64, 128, 256, 512)


def resnet18(net: Network) -> list[Tensor]:
    """Return the logits of ResNet-18."""
    return _resnet(net, (2, 2, 2, 2), _basic, 1)


def resnet50(net: Network) -> list[Tensor]:
    """Return the logits of ResNet-50."""
    return _resnet(net, (3, 4, 6, 3), _bottleneck, 4)


def _resnet(
    net: Network,
    repeats: tuple[int, ...],
    block: Callable[[Network, Tensor, int, int], Tensor],
    expansion: int,
) -> list[Tensor]:
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, net.wide(64), kernel=7, stride=2, activation="relu")
    x = net.max_pool(x, 3, stride=2)
    for stage, (channels, count) in enumerate(zip(CHANNELS, repeats, strict=True)):
        for number in range(count):
            stride = 2 if stage and not number else 1
            y = block(net, x, net.wide(channels), stride)
            if not number and (stride > 1 or expansion > 1):
                x = net.conv(x, net.wide(channels) * expansion, stride=stride)
            x = net.add(x, y, activation="relu")
    return [net.dense(net.mean(x), CLASSES)]


def _basic(net: Network, x: Tensor, channels: int, stride: int) -> Tensor:
    x = net.conv(x, channels, kernel=3, stride=stride, activation="relu")
    return net.conv(x, channels, kernel=3)


def _bottleneck(net: Network, x: Tensor, channels: int, stride: int) -> Tensor:
    x = net.conv(x, channels, activation="relu")
    x = net.conv(x, channels, kernel=3, stride=stride, activation="relu")
    return net.conv(x, channels * 4)
