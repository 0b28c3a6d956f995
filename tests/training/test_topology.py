"""The demo model's layer list against TFLite's padding rule and the architecture's sums."""

import itertools

import pytest

from kiwicha.training.topology import INPUT_SIZE, LAYERS, POOL_SIZE, Convolution


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("in_size", range(1, 12))
def test_padding_lets_the_last_window_fit_exactly(kernel: int, stride: int, in_size: int) -> None:
    layer = Convolution("any", 1, 1, kernel, stride, in_size, is_depthwise=False)
    before, after = layer.padding
    assert before <= after <= before + 1
    windows = (in_size + before + after - kernel) // stride + 1
    assert windows == layer.out_size == -(-in_size // stride)


def test_layers_fit_together() -> None:
    assert (LAYERS[0].in_size, LAYERS[0].in_channels) == (INPUT_SIZE, 1)
    for one, following in itertools.pairwise(LAYERS[:-1]):
        assert one.out_channels == following.in_channels
        assert one.out_size == following.in_size
    assert LAYERS[-1].in_channels == LAYERS[-2].out_channels
    assert POOL_SIZE == 3


def test_size_is_that_of_a_quarter_width_mobilenet() -> None:
    assert len(LAYERS) == 28
    weights = sum(
        layer.kernel**2 * layer.out_channels * (1 if layer.is_depthwise else layer.in_channels)
        for layer in LAYERS
    )
    assert weights == 207_968
    assert LAYERS[0].depth_multiplier == 8
