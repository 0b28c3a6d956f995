"""Custom operators in the reference executor."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha import custom
from kiwicha.contract.layout import Ref
from kiwicha.custom import calls as custom_calls
from kiwicha.errors import ProgramError
from kiwicha.kernels.custom import Custom
from kiwicha.program.parts import Layer
from kiwicha.sim.reference.memory import Memory

__all__ = ["run_custom"]


def run_custom(memory: Memory, p: Custom, layer: Layer) -> NDArray[Any]:
    """Return what a custom operator's reference gives, as bytes.

    Raises
    ------
    ProgramError
        If the operator is not installed.
    UsageError
        See `custom_calls.result_of`.
    """
    operator = custom.find_by_hash(p.operator_hash)
    if operator is None:
        raise ProgramError(
            f"custom operator {p.operator_hash:08x} must be installed; install its package"
        )
    refs = (p.input_1, p.input_2, p.input_3, p.input_4)[: p.input_count]
    parameters = _bytes(memory, p.parameters).tobytes() if p.parameters.bytes else b""
    inputs = [_bytes(memory, ref) for ref in refs]
    count = math.prod(layer.shape)
    size_bytes = p.output.bytes
    return custom_calls.result_of(
        operator, inputs, parameters, layer.index, count=count, size_bytes=size_bytes
    )


def _bytes(memory: Memory, ref: Ref) -> NDArray[np.int8]:
    values: NDArray[np.int8] = memory.load(ref, np.int8, (ref.bytes,))
    return values
