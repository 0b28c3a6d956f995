"""What layers do to samples, against LiteRT on small integers in float32, where all is exact."""

from typing import Any

import numpy as np
import pytest

from kiwicha.gallery import samples
from kiwicha.tflite_writer.builder import PADDINGS, ModelBuilder
from tests.support.oracle import oracle


def answer(code: str, x: Any, constants: list[Any], expected: Any, **options: Any) -> Any:
    """Give what the interpreter makes of float32 numbers; int32 constants come first."""
    builder = ModelBuilder("float layer")
    found = builder.tensor(x.shape, np.float32)
    operands = [builder.tensor(c.shape, c.dtype, data=c) for c in constants]
    is_last = constants and constants[0].dtype == np.int32
    operands = [*operands, found] if is_last else [found, *operands]
    y = builder.tensor(expected.shape, np.float32)
    builder.operator(code, operands, [y], **options)
    case = oracle.Case(builder.build([found], [y]), (x.astype(np.float32),))
    (given,) = oracle.ask([case], oracle.LITERT)
    assert given.outputs is not None, given.error
    return given.outputs[0]


def integers(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).integers(-9, 10, shape).astype(np.float64)


def window(padding: str, stride: int) -> dict[str, int]:
    return {"padding": PADDINGS[padding], "strideH": stride, "strideW": stride}


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"), [((3, 3), 2, 1), ((1, 7), 1, 1), ((3, 2), 1, 2)]
)
def test_convolutions(padding: str, kernel: tuple[int, int], stride: int, dilation: int) -> None:
    x, weights = integers(1, 11, 12, 4), integers(6, *kernel, 4).astype(np.int8)
    options = {"stride": stride, "padding": padding, "dilation": dilation}
    sums = samples.convolve(x, weights, **options, groups=1)
    factors = {"dilationHFactor": dilation, "dilationWFactor": dilation}
    constants = [weights.astype(np.float32), np.zeros(6, np.float32)]
    given = answer("CONV_2D", x, constants, sums, **window(padding, stride), **factors)
    np.testing.assert_array_equal(given, sums)


def test_groups_see_their_own_channels() -> None:
    x, weights = integers(2, 5, 5, 6), integers(4, 3, 3, 3).astype(np.int8)
    options = {"stride": 1, "padding": "SAME", "dilation": 1}
    halves = [
        samples.convolve(x[..., 3 * i : 3 * i + 3], weights[2 * i : 2 * i + 2], **options, groups=1)
        for i in range(2)
    ]
    sums = samples.convolve(x, weights, **options, groups=2)
    np.testing.assert_array_equal(sums, np.concatenate(halves, axis=-1))


@pytest.mark.parametrize("padding", PADDINGS)
def test_depthwise_convolutions(padding: str) -> None:
    x, weights = integers(1, 9, 10, 4), integers(1, 3, 5, 4).astype(np.int8)
    sums = samples.convolve_depthwise(x, weights, stride=2, padding=padding, dilation=1)
    constants = [weights.astype(np.float32), np.zeros(4, np.float32)]
    options = {**window(padding, 2), "depthMultiplier": 1}
    given = answer("DEPTHWISE_CONV_2D", x, constants, sums, **options)
    np.testing.assert_array_equal(given, sums)


@pytest.mark.parametrize(("kernel", "stride"), [(2, 2), (3, 2), (4, 2)])
def test_transposed_convolutions(kernel: int, stride: int) -> None:
    x, weights = integers(1, 4, 5, 3), integers(2, kernel, kernel, 3).astype(np.int8)
    sums = samples.transpose_convolve(x, weights, stride=stride)
    constants = [np.array(sums.shape, np.int32), weights.astype(np.float32)]
    given = answer("TRANSPOSE_CONV", x, constants, sums, **window("SAME", stride))
    np.testing.assert_array_equal(given, sums)


@pytest.mark.parametrize("padding", PADDINGS)
@pytest.mark.parametrize("stride", [1, 2])
def test_pools(padding: str, stride: int) -> None:
    x = integers(1, 8, 9, 3)
    options = {**window(padding, stride), "filterHeight": 3, "filterWidth": 3}
    largest = samples.max_pool(x, 3, stride, padding)
    np.testing.assert_array_equal(answer("MAX_POOL_2D", x, [], largest, **options), largest)
    average = samples.average_pool(x, 3, stride, padding)
    given = answer("AVERAGE_POOL_2D", x, [], average, **options)
    np.testing.assert_allclose(given, average, rtol=1e-6)


def test_long_sums_are_exact() -> None:
    """Of the largest steps and weights, where float32 alone would round."""
    x, weights = np.full((1, 3000), 255.0), np.full((2, 3000), 127, np.int8)
    weights[1, ::2] = -126
    expected = [[255 * 127 * 3000, 255 * 1500]]
    np.testing.assert_array_equal(samples.dense(x, weights), expected)


def test_statistics_are_by_channel() -> None:
    sums = np.array([[1.0, 100.0, 7.0], [3.0, 300.0, 7.0]])
    means, deviations = samples.statistics(sums)
    np.testing.assert_array_equal(means, [2, 200, 7])
    # Those of little or no deviation have a quarter of the usual one.
    usual = np.sqrt((1 + 1 + 100**2 + 100**2) / 6)
    np.testing.assert_allclose(deviations, [usual / 4, 100, usual / 4])
