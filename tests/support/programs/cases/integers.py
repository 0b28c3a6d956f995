"""Two tensors of integers of one shape."""

import numpy as np

from kiwicha.contract.integers import IntegerOperation
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.integers import Integers
from tests.support.programs.images import image_shape
from tests.support.programs.steps import ProgramBuilder, int8s, padded_shape

__all__ = ["PARAMS", "add"]

PARAMS = Integers
_OPERATIONS = [item for item in IntegerOperation if not item.divides]


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step of int32; in some cases of bytes with tables, of int16, or of divisions."""
    shape = image_shape(kernel, rng)
    strides = shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3], 1
    padded = padded_shape(strides, strides[0])
    is_looked_up = number % 3 == 2
    is_short = number % 6 == 3
    element_bytes = 1 if is_looked_up else 2 if is_short else 4
    stored = (*shape, element_bytes)
    operation = _OPERATIONS[int(rng.integers(len(_OPERATIONS)))]
    if is_looked_up:
        operation = IntegerOperation.LESS
    elif is_short:
        operation = (IntegerOperation.MINIMUM, IntegerOperation.MAXIMUM)[number // 6 % 2]
    elif number % 5 == 1:
        operation = IntegerOperation.FLOOR_MOD
    second = int8s(rng, stored)
    # No element is 0.
    second[..., 0] |= 1
    tables = [builder.constant(rng.integers(-999, 999, 256)) for _ in range(2 * is_looked_up)]
    output = builder.output(shape if operation.is_comparison else stored)
    builder.step(
        kernel,
        Integers(
            builder.input(int8s(rng, stored)),
            builder.input(second),
            *(tables or [Ref(), Ref()]),
            output,
            padded_shape(shape),
            padded,
            padded,
            operation,
            DType.INT8 if is_looked_up else DType.INT16 if is_short else DType.INT32,
        ),
    )
