"""Multipliers and shifts with which results are rounded once."""

import numpy as np

from kiwicha.compiler.quantization import scales
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier, quantize_multiplier


def test_results_are_rounded_once() -> None:
    rng = np.random.default_rng(1)
    ratios = 2.0 ** rng.uniform(-scales.ONCE_BITS, -1, 500)
    multipliers, shifts = (
        np.array(column, np.int32) for column in zip(*map(quantize_multiplier, ratios), strict=True)
    )
    # Sums that give about 8 bits, as those of layers do.
    sums = np.rint(rng.uniform(-128, 128, (200, 500)) / ratios).astype(np.int64)
    exact = sums * ratios
    rounded = np.copysign(np.floor(np.abs(exact) + 0.5), exact).astype(np.int64)
    is_half = np.abs(np.abs(exact % 1) - 0.5) < 1e-9

    def differing(*parts: np.ndarray) -> float:
        results = multiply_by_quantized_multiplier(sums, *parts)
        return float(np.mean((results != rounded)[~is_half]))

    assert differing(multipliers, shifts) > 0.002
    assert differing(*scales.rounded_once(multipliers, shifts)) < 0.0002
    kept = np.array([1 << 30], np.int32), np.array([-scales.ONCE_BITS - 1], np.int32)
    assert scales.rounded_once(*kept) == kept
