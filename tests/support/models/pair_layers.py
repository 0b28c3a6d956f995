"""Models of one operator on two tensors."""

import math

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["CHOICES", "Quantization", "Shape", "all_pairs", "pair"]

Shape = tuple[int, ...]
Quantization = tuple[float, int]
"""Scale and zero point."""
CHOICES = ("MAXIMUM", "MINIMUM")
_USUAL = ((0.05, -9), (0.021, 17), (0.04, 4))
_SAME = ((0.05, -9),) * 3
_SQUARE = ((0.05, 3), (0.043, -17), (0.7, -90))
_SCALES = {"MAXIMUM": _SAME, "MINIMUM": _SAME, "SQUARED_DIFFERENCE": _SQUARE}


def pair(
    operator: str,
    first: Shape,
    second: Shape,
    constant: int | None = None,
    *,
    scales: tuple[Quantization, ...] | None = None,
    values: dict[int, list[int]] | None = None,
) -> oracle.Case:
    """Give a model of an operator on two tensors, and inputs.

    Parameters
    ----------
    operator : str
        Its name.
    first, second : tuple of int
        Shapes of its operands.
    constant : int, optional
        Number of the operand that is a constant.
    scales : tuple, optional
        Of the operands and the output; those of an operator that needs equal ones are.
    values : dict, optional
        What operands hold; random bytes else.
    """
    rng = np.random.default_rng(sum(first))
    builder = ModelBuilder()
    contents = [rng.integers(-128, 128, shape, np.int8) for shape in (first, second)]
    for k, numbers in (values or {}).items():
        contents[k] = np.array(numbers, np.int8).reshape(contents[k].shape)
    shapes = first, second, tuple(np.broadcast_shapes(first, second))
    quantizations = scales or _SCALES.get(operator, _USUAL)
    *inputs, y = (
        builder.tensor(
            shape, scale=scale, zero_point=zero_point, data=contents[k] if k == constant else None
        )
        for k, (shape, (scale, zero_point)) in enumerate(zip(shapes, quantizations, strict=True))
    )
    options = {"fusedActivationFunction": 0} if operator in {"ADD", "SUB", "MUL"} else {}
    builder.operator(operator, inputs, [y], **options)
    variable = [k for k in range(2) if k != constant]
    model = builder.build([inputs[k] for k in variable], [y])
    return oracle.Case(model, tuple(contents[k] for k in variable))


def all_pairs(operator: str, scales: tuple[Quantization, ...] | None = None) -> oracle.Case:
    """Give a model of an operator on two tensors, and all pairs of bytes."""
    shape = (1, 256, 256, 1)
    rows = np.repeat(np.arange(-128, 128), 256)
    columns = np.tile(np.arange(-128, 128), 256)
    assert len(rows) == math.prod(shape)
    values = {0: rows.tolist(), 1: columns.tolist()}
    return pair(operator, shape, shape, scales=scales, values=values)
