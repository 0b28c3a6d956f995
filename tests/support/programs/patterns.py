"""The inputs that ``example/main.c`` of a library writes."""

from kiwicha.contract.program import DType
from kiwicha.program.parts import IoTensor

__all__ = ["pattern"]


def pattern(tensor: IoTensor) -> bytes:
    """Return the bytes of an input: they mean nothing, and differ from place to place."""
    if tensor.dtype is DType.FLOAT32:
        return bytes(tensor.ref.bytes)
    return bytes(7 * k % 256 for k in range(tensor.ref.bytes))
