"""Tables of sums behind convolutions: every pair of bytes, for all kinds of scales."""

import numpy as np
import pytest

from kiwicha.compiler.engine.schedule.fused_tables import fused_tables
from kiwicha.contract.engine import FUSED_BITS, FUSED_FRACTION_BITS
from kiwicha.numerics.requantization import (
    multiply_by_quantized_multiplier,
    quantize_multiplier,
    requantize,
)

OCTETS = np.arange(256).astype(np.uint8).view(np.int8).astype(np.int64)
SHIFT = 20


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("ratios", ["any", "equal", "halves", "ones"])
def test_every_pair_of_bytes(seed: int, ratios: str) -> None:
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.01, 1, 2)
    output = float(rng.uniform(0.7, 2) * scales.max())
    if ratios != "any":
        scales[1] = scales[0]
    if ratios == "halves":
        # Half of all sums lie in the middle of two outputs.
        output = 2 * scales[0]
    if ratios == "ones":
        output = scales[0]
    zero_points = rng.integers(-128, 128, 3)
    twice = 2 * scales.max()
    terms = np.stack(
        [
            multiply_by_quantized_multiplier(
                (OCTETS - zero_point) << SHIFT, *quantize_multiplier(scale / twice)
            )
            for scale, zero_point in zip(scales, zero_points[:2], strict=True)
        ],
        axis=1,
    )
    multiplier, shift = quantize_multiplier(twice / (output * 2**SHIFT))
    sums = terms[:, 0, None] + terms[:, 1]
    results = requantize(sums, multiplier, shift, int(zero_points[2]), -128, 127)
    scale = multiplier * 2.0 ** (shift - 31)
    tables = fused_tables(results, terms, scale, int(zero_points[2]), np.ones(256, np.bool_))
    assert tables is not None
    totals = tables[:, 0, None].astype(np.int64) + tables[:, 1]
    assert np.abs(totals).max() < 1 << (FUSED_BITS - 1)
    np.testing.assert_array_equal((totals >> FUSED_FRACTION_BITS).clip(-128, 127), results)


def test_there_are_none_where_terms_cannot_be_added() -> None:
    results = (OCTETS[:, None] * OCTETS // 128).clip(-128, 127)
    terms = np.stack([OCTETS, OCTETS], axis=1)
    assert fused_tables(results, terms, 1.0, 0, np.ones(256, np.bool_)) is None


def test_bytes_that_do_not_come_do_not_count() -> None:
    results = (OCTETS[:, None] + OCTETS).clip(-128, 127)
    is_given = OCTETS >= 0
    results[~is_given] = 99
    terms = np.stack([OCTETS, OCTETS], axis=1)
    assert fused_tables(results, terms, 1.0, 0, np.ones(256, np.bool_)) is None
    tables = fused_tables(results, terms, 1.0, 0, is_given)
    assert tables is not None
    totals = tables[:, 0, None].astype(np.int64) + tables[:, 1]
    found = (totals >> FUSED_FRACTION_BITS).clip(-128, 127)
    np.testing.assert_array_equal(found[is_given], results[is_given])
