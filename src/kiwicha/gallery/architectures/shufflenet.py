"""ShuffleNet V1 and V2: grouped convolutions, split channels, and channels that are shuffled."""

from kiwicha.gallery.network import Network
from kiwicha.gallery.tensors import Tensor

__all__ = ["shufflenet1", "shufflenet2"]

CLASSES = 1000
REPEATS = (4, 8, 4)
GROUPS = 3
V1_CHANNELS = (240, 480, 960)
V2_CHANNELS = (116, 232, 464)


def shufflenet1(net: Network) -> list[Tensor]:
    """Return the logits of ShuffleNet V1 with three groups."""
    x = _stem(net)
    for stage, repeats in enumerate(REPEATS):
        channels = _in_groups(net.wide(V1_CHANNELS[stage]))
        for number in range(repeats):
            is_first = not stage and not number
            x = _grouped_block(net, x, channels, 1 if is_first else GROUPS, 1 if number else 2)
    return [net.dense(net.mean(x), CLASSES)]


def _in_groups(channels: int) -> int:
    """Return channels that divide by the groups, also a quarter of them."""
    return -(-channels // (4 * GROUPS)) * 4 * GROUPS


def _grouped_block(net: Network, x: Tensor, channels: int, groups: int, stride: int) -> Tensor:
    own = channels if stride == 1 else channels - x.shape[3]
    y = net.conv(x, channels // 4, groups=groups, activation="relu")
    y = net.depthwise(net.shuffle(y, GROUPS), stride=stride)
    y = net.conv(y, own, groups=GROUPS)
    if stride == 1:
        return net.add(x, y, activation="relu")
    x = net.average_pool(x, 3, stride=2)
    return net.activation(net.concat([x, y]), "relu")


def shufflenet2(net: Network) -> list[Tensor]:
    """Return the logits of ShuffleNet V2."""
    x = _stem(net)
    for channels, repeats in zip(V2_CHANNELS, REPEATS, strict=True):
        half = net.wide(channels) // 2
        for number in range(repeats):
            if number:
                kept, moving = net.split(x, [half, half])
            else:
                kept, moving = net.conv(net.depthwise(x, stride=2), half, activation="relu"), x
            y = net.conv(moving, half, activation="relu")
            y = net.depthwise(y, stride=1 if number else 2)
            y = net.conv(y, half, activation="relu")
            x = net.shuffle(net.concat([kept, y]), 2)
    x = net.conv(x, net.wide(1024), activation="relu")
    return [net.dense(net.mean(x), CLASSES)]


def _stem(net: Network) -> Tensor:
    x = net.input(net.size, net.size, 3)
    x = net.conv(x, 24, kernel=3, stride=2, activation="relu")
    return net.max_pool(x, 3, stride=2)
