"""U-Net: transposed convolutions back to the input's size, with what the way down left."""

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["unet"]

CHANNELS = (32, 64, 128, 256, 512)
"""Of each level; half of those of the first publication."""
CLASSES = 21


def unet(net: Network) -> list[Tensor]:
    """Return the logits of each pixel."""
    x = net.input(net.size, net.size, 3)
    skipped = []
    for channels in CHANNELS[:-1]:
        x = _double(net, x, net.wide(channels))
        skipped.append(x)
        x = net.max_pool(x, 2, stride=2)
    x = _double(net, x, net.wide(CHANNELS[-1]))
    for channels, skip in zip(reversed(CHANNELS[:-1]), reversed(skipped), strict=True):
        x = net.transpose_conv(x, net.wide(channels))
        x = _double(net, net.concat([skip, x]), net.wide(channels))
    return [net.conv(x, CLASSES)]


def _double(net: Network, x: Tensor, channels: int) -> Tensor:
    for _ in range(2):
        x = net.conv(x, channels, kernel=3, activation="relu")
    return x
