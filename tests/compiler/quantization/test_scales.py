"""Fixed-point parameters against the defining formulas, evaluated independently."""

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.compiler import compile_model
from kiwicha.compiler.quantization.scales import (
    Scale,
    activation_range,
    channel_scales,
    mean_scale,
    product_scale,
    sum_scales,
)
from kiwicha.compiler.tflite.graph import Activation
from kiwicha.compiler.tflite.tensor import Quantization
from kiwicha.errors import UnsupportedModelError
from tests.support.models import random_models, random_tensors
from tests.support.models.tflite_builder import ModelBuilder

SCALES = st.floats(2.0**-20, 2.0**6, width=32)
EXTREMES = [1e-45, 1e-40, 1e-38, 1e-25, 1e-10, 0.05, 1.0, 1e10, 1e25, 1e38, 3.3e38]


def quantization(*scales: float, zero_point: int = 0) -> Quantization:
    return Quantization(np.array(scales, np.float32), np.full(len(scales), zero_point, np.int64), 0)


def close(scale: Scale, exact: Fraction) -> bool:
    """Whether a scale has 30 or more correct bits, or is 0 for what would shift by more than 31."""
    if exact < Fraction(1, 2**32):
        return scale == Scale(0, 0)
    value = Fraction(scale.multiplier) * Fraction(2) ** (scale.shift - 31)
    return 2**30 <= scale.multiplier < 2**31 and abs(value / exact - 1) <= Fraction(1, 2**30)


@settings(deadline=None)
@given(SCALES, st.lists(SCALES, min_size=1, max_size=5), SCALES)
def test_channel_scales(inputs: float, weights: list[float], output: float) -> None:
    multipliers, shifts = channel_scales(
        quantization(inputs), quantization(*weights), quantization(output), len(weights)
    )
    assert multipliers.dtype == shifts.dtype == np.int32
    for multiplier, shift, weight in zip(multipliers, shifts, weights, strict=True):
        exact = Fraction(inputs) * Fraction(weight) / Fraction(output)
        assert close(Scale(int(multiplier), int(shift)), exact)


def test_one_scale_is_for_all_channels() -> None:
    multipliers, shifts = channel_scales(
        quantization(0.5), quantization(0.25), quantization(1.0), 3
    )
    assert multipliers.tolist() == [2**30] * 3
    assert shifts.tolist() == [-2] * 3


def test_products_are_rounded_in_double() -> None:
    # In float32 the product of these scales would be another number with another multiplier.
    a, b = np.float32(0.1), np.float32(0.3)
    real = float(a) * float(b)
    assert real != float(a * b)
    mantissa, shift = math.frexp(real)
    multipliers, shifts = channel_scales(quantization(a), quantization(b), quantization(1.0), 1)
    assert multipliers.tolist() == [math.floor(mantissa * 2**31 + 0.5)]
    assert shifts.tolist() == [shift]


@settings(deadline=None)
@given(SCALES, SCALES, st.floats(2.0**-6, 2.0**6, width=32))
def test_sum_scales(a: float, b: float, output: float) -> None:
    scales = sum_scales(quantization(a), quantization(b), quantization(output))
    twice = 2 * Fraction(max(a, b))
    assert close(scales.input_1, Fraction(a) / twice)
    assert close(scales.input_2, Fraction(b) / twice)
    assert close(scales.output, twice / (2**20 * Fraction(output)))


@settings(deadline=None)
@given(SCALES, SCALES, SCALES)
def test_product_scale(a: float, b: float, output: float) -> None:
    scale = product_scale(quantization(a), quantization(b), quantization(output))
    assert close(scale, Fraction(a) * Fraction(b) / Fraction(output))


@settings(deadline=None)
@given(SCALES, SCALES, st.integers(1, 2**22))
def test_mean_scale(inputs: float, output: float, count: int) -> None:
    whole = mean_scale(quantization(inputs), quantization(output), 1)
    assert close(whole, Fraction(inputs) / Fraction(output))
    scale = mean_scale(quantization(inputs), quantization(output), count)
    bits = whole.shift - scale.shift
    assert bits == min(int(math.log2(count)), 31 + whole.shift)
    assert scale.multiplier == math.floor(Fraction(whole.multiplier * 2**bits, count))
    assert -31 <= scale.shift


@pytest.mark.parametrize(
    ("activation", "scale", "zero_point", "expected"),
    [
        (Activation.NONE, 0.1, 5, (-128, 127)),
        (Activation.RELU, 0.1, 5, (5, 127)),
        (Activation.RELU, 0.1, -128, (-128, 127)),
        (Activation.RELU6, 0.1, -100, (-100, -40)),
        (Activation.RELU6, 0.02, 0, (0, 127)),
        (Activation.RELU6, 1e-30, 127, (127, 127)),
        (Activation.RELU6, 100.0, 3, (3, 3)),
        (Activation.RELU6, 4.0, 0, (0, 2)),  # 1.5 rounds away from zero
        (Activation.RELU_N1_TO_1, 2.0, 0, (-1, 1)),  # so does -0.5
        (Activation.RELU_N1_TO_1, 0.01, 0, (-100, 100)),
        (Activation.RELU_N1_TO_1, 0.001, 0, (-128, 127)),
        # 6 / scale is 24.5 in float32 and 24.49999975661437 in double.
        (Activation.RELU6, 0.2448979616165161, 0, (0, 25)),
    ],
)
def test_activation_range(
    activation: Activation, scale: float, zero_point: int, expected: tuple[int, int]
) -> None:
    assert activation_range(activation, quantization(scale, zero_point=zero_point)) == expected


class ExtremeScales(ModelBuilder):
    """A builder that gives most tensors scales as far apart as float32 allows."""

    rng = random.Random(0)

    def tensor(self, shape: Sequence[int] | None, *args: Any, **options: Any) -> int:
        """Add a tensor."""
        scale = options.get("scale")
        if scale is not None:
            is_changed = self.rng.random() < 0.7
            scales = [self.rng.choice(EXTREMES) if is_changed else s for s in np.atleast_1d(scale)]
            options["scale"] = scales
        return super().tensor(shape, *args, **options)


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_extreme_scales_end_in_an_answer(
    operator: str, is_unsigned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random_tensors, "ModelBuilder", ExtremeScales)
    monkeypatch.setattr(ExtremeScales, "rng", random.Random(operator))
    answers = []
    for seed in range(6):
        model = random_models.single_operator(operator, seed, is_unsigned=is_unsigned).model
        try:
            compile_model(model, "baseline")
        except UnsupportedModelError as error:
            answers.append(str(error))
    assert all("scale" in text or "alpha" in text for text in answers)
