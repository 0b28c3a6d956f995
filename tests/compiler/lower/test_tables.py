"""Tables of all bytes against the interpreter that defines each operator, for many scales."""

import random

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.errors import UnsupportedModelError
from kiwicha.sim.reference import executor as reference
from tests.support.models.random_layers import FUNCTIONS
from tests.support.models.random_models import LITERT_OPERATORS, SIGNED_OPERATORS
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

MODELS = 40


def all_bytes(operator: str, seed: int, *, is_unsigned: bool) -> oracle.Case:
    """Give a model of one operator, and every byte that it takes."""
    rng = random.Random(f"{operator}{seed}{is_unsigned}")
    kind = np.uint8 if is_unsigned else np.int8
    least = np.iinfo(kind).min
    scales = [10 ** rng.uniform(-4, 1) for _ in range(2)]
    zero_points = [rng.randint(least, least + 255) for _ in range(2)]
    builder = ModelBuilder()
    x, y = (
        builder.tensor((1, 256), kind, scale=scale, zero_point=zero_point)
        for scale, zero_point in zip(scales, zero_points, strict=True)
    )
    options = {"approximate": seed % 2 == 0} if operator == "GELU" else {}
    builder.operator(operator, [x], [y], **options)
    values = np.arange(least, least + 256).reshape(1, 256)
    if operator == "RSQRT":
        values = np.maximum(values, zero_points[0])
    interpreter = oracle.LITERT if operator in LITERT_OPERATORS else oracle.MICRO
    return oracle.Case(builder.build([x], [y]), (values.astype(kind),), interpreter)


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
@pytest.mark.parametrize("operator", FUNCTIONS)
def test_every_byte(operator: str, is_unsigned: bool) -> None:
    if is_unsigned and operator in SIGNED_OPERATORS:
        with pytest.raises(UnsupportedModelError, match="must be int8, not uint8"):
            compile_model(all_bytes(operator, 0, is_unsigned=True).model, "baseline")
        return
    cases = [all_bytes(operator, seed, is_unsigned=is_unsigned) for seed in range(MODELS)]
    for seed, (case, answer) in enumerate(zip(cases, oracle.ask(cases), strict=True)):
        assert answer.outputs is not None, answer.error
        (got,) = reference.run(compile_model(case.model, "baseline"), case.inputs)
        np.testing.assert_array_equal(got, answer.outputs[0], err_msg=f"seed {seed}")
