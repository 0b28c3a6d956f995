"""Custom operators in the reference executor."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha import custom
from kiwicha.errors import ProgramError
from kiwicha.isa_program import Custom
from kiwicha.layout import Ref
from kiwicha.sim.reference_memory import Memory

__all__ = ["run_custom"]


def run_custom(memory: Memory, p: Custom) -> NDArray[Any]:
    """Return what a custom operator's reference gives, as bytes."""
    operator = custom.find_by_hash(p.operator_hash)
    if operator is None:
        raise ProgramError(
            f"custom operator {p.operator_hash:08x} must be installed; install its package"
        )
    refs = (p.input_1, p.input_2, p.input_3, p.input_4)[: p.input_count]
    parameters = _bytes(memory, p.parameters).tobytes() if p.parameters.bytes else b""
    inputs = [_bytes(memory, ref) for ref in refs]
    output = np.ascontiguousarray(operator.reference(inputs, parameters))
    if output.nbytes != p.output.bytes:
        raise ProgramError(
            f"reference of custom operator {operator.name!r} must give {p.output.bytes} bytes, "
            f"not {output.nbytes}"
        )
    return output.reshape(-1).view(np.int8)


def _bytes(memory: Memory, ref: Ref) -> NDArray[np.int8]:
    values: NDArray[np.int8] = memory.load(ref, np.int8, (ref.bytes,))
    return values
