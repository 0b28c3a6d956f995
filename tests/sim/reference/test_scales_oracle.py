"""Ratios of scales that lie on a tie in float32 and beside it in double: the oracle takes double.

Releases of TensorFlow Lite Micro up to 20261009 computed some of them in float32.
"""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

ALL_BYTES = np.arange(-128, 128).astype(np.int8)
ALPHA = 0.125


def on_a_tie(operator: str, seed: int) -> tuple[oracle.Case, bool]:
    """Return a model, and whether float32 would give another ratio."""
    rng = np.random.default_rng(seed)
    scale = np.float32(10 ** rng.uniform(-3, 0.5))
    ratio = rng.choice([1.5, 2.5, 3.5, 0.5, 0.25])
    if operator == "HARD_SWISH":
        # Ties of the 15 bits that are kept of a multiplier.
        ratio = 128 * (int(rng.integers(2**14, 2**15)) + 0.5) / 2 ** int(rng.integers(15, 21))
    output_scale = np.float32(float(scale) / ratio)
    builder = ModelBuilder()
    x = builder.tensor((256,), scale=float(scale), zero_point=0 if operator == "HARD_SWISH" else 40)
    y = builder.tensor((256,), scale=float(output_scale), zero_point=-100)
    options = {"alpha": ALPHA} if operator == "LEAKY_RELU" else {}
    builder.operator(operator, [x], [y], **options)
    differs = float(scale / output_scale) != float(scale) / float(output_scale)
    return oracle.Case(builder.build([x], [y]), (ALL_BYTES,)), differs


@pytest.mark.parametrize("operator", ["HARD_SWISH", "LEAKY_RELU", "QUANTIZE", "RELU"])
def test_ratios_are_in_double(operator: str) -> None:
    made = [on_a_tie(operator, seed) for seed in range(60)]
    assert sum(differs for _, differs in made) > 10
    cases = [case for case, _ in made]
    for case, answer in zip(cases, oracle.ask(cases), strict=True):
        assert answer.outputs is not None, answer.error
        (output,) = reference.run(compile_model(case.model, "baseline"), case.inputs)
        np.testing.assert_array_equal(output, answer.outputs[0])
