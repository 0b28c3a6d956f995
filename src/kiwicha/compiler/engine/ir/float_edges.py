"""Float32 tensors of a region: int8 inside, converted on the way to and from DRAM."""

from dataclasses import dataclass

__all__ = ["FloatEdge"]


@dataclass(frozen=True)
class FloatEdge:
    """A tensor that is float32 in the arena and int8 in the scratchpad.

    Parameters
    ----------
    tensor : int
        The tensor of float32.
    position : int
        Position of its QUANTIZE or DEQUANTIZE.
    table : bytes
        What the converter needs; see `kiwicha.contract.floats`.
    """

    tensor: int
    position: int
    table: bytes
