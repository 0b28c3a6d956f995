"""The layers of the demo model: MobileNetV1 at a quarter of its width on a 96 x 96 grey picture."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CLASSES", "INPUT_SIZE", "LAYERS", "POOL_SIZE", "Convolution"]

INPUT_SIZE = 96
"""Height and width of the input picture in pixels; it has one channel."""

CLASSES = ("no face", "face")
"""Names of the two outputs, in order."""

STEM_CHANNELS = 8
# (output channels, stride) of each depthwise 3x3 and pointwise 1x1 pair.
PAIRS = (
    (16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2),
    (128, 1), (128, 1), (128, 1), (128, 1), (128, 1), (256, 2), (256, 1),
)  # fmt: skip


@dataclass(frozen=True)
class Convolution:
    """One convolution with SAME padding.

    Parameters
    ----------
    name : str
        Prefix of its tensors' names.
    in_channels, out_channels : int
        Channels of its input and output.
    kernel : int
        Height and width of the kernel, 1 or 3.
    stride : int
        Stride in both directions, 1 or 2.
    in_size : int
        Height and width of the input in pixels.
    is_depthwise : bool
        Whether each output channel sees one input channel only.
    has_activation : bool
        Whether batch normalisation and ReLU6 follow.
    """

    name: str
    in_channels: int
    out_channels: int
    kernel: int
    stride: int
    in_size: int
    is_depthwise: bool
    has_activation: bool = True

    @property
    def out_size(self) -> int:
        """Height and width of the output in pixels."""
        return -(-self.in_size // self.stride)

    @property
    def padding(self) -> tuple[int, int]:
        """Pixels added before and after the input, in each direction."""
        total = max((self.out_size - 1) * self.stride + self.kernel - self.in_size, 0)
        return total // 2, total - total // 2

    @property
    def depth_multiplier(self) -> int:
        """Output channels per input channel of a depthwise convolution."""
        return self.out_channels // self.in_channels


def _build(pairs: Sequence[tuple[int, int]]) -> tuple[Convolution, ...]:
    """List the convolutions from the input picture to the two logits."""
    size = INPUT_SIZE
    stem = Convolution("stem", 1, STEM_CHANNELS, 3, 2, size, is_depthwise=True)
    layers = [stem]
    for number, (channels, stride) in enumerate(pairs, start=1):
        last = layers[-1]
        depthwise = Convolution(
            f"pair{number}/depthwise", last.out_channels, last.out_channels, 3, stride,
            last.out_size, is_depthwise=True,
        )  # fmt: skip
        pointwise = Convolution(
            f"pair{number}/pointwise", last.out_channels, channels, 1, 1,
            depthwise.out_size, is_depthwise=False,
        )  # fmt: skip
        layers += [depthwise, pointwise]
    layers.append(
        Convolution(
            "logits",
            layers[-1].out_channels,
            len(CLASSES),
            1,
            1,
            1,
            is_depthwise=False,
            has_activation=False,
        )
    )
    return tuple(layers)


LAYERS = _build(PAIRS)
"""The 28 convolutions in order of execution; average pooling stands before the last."""

POOL_SIZE = LAYERS[-2].out_size
"""Height and width of the average pooling window, which covers its whole input."""
