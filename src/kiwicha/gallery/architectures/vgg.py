"""VGG-11: plain convolutions, and dense layers of 25,088 and 4,096 inputs."""

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["vgg11"]

STAGES = ((64,), (128,), (256, 256), (512, 512), (512, 512))
HIDDEN = 4096
CLASSES = 1000


def vgg11(net: Network) -> list[Tensor]:
    """Return the logits of VGG-11."""
    x = net.input(net.size, net.size, 3)
    for stage in STAGES:
        for channels in stage:
            x = net.conv(x, net.wide(channels), kernel=3, activation="relu")
        x = net.max_pool(x, 2, stride=2)
    _, height, width, channels = x.shape
    x = net.reshape(x, 1, height * width * channels)
    for _ in range(2):
        x = net.dense(x, net.wide(HIDDEN), activation="relu")
    return [net.dense(x, CLASSES)]
