"""COPY: whatever only moves data, or repeats it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, ref, u32
from kiwicha.contract.program import MAX_RANK, Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "Copy"]


@dataclass(frozen=True)
class Copy(Struct):
    """Strided copy of pieces of bytes: whatever only moves data, or repeats it.

    Piece [i, j, ...] goes from ``input_start + i * input_strides[0] + ...`` of the input to
    ``i * output_strides[0] + ...`` of the output. Both references hold exactly the bytes from the
    first to the last one that are touched. They do not overlap; but the output of one piece may
    begin before the input and end within it.
    """

    input: Ref = ref("any type")
    output: Ref = ref("the same type")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "number of pieces; the last one varies fastest")
    input_strides: tuple[int, ...] = array("i32", MAX_RANK, "bytes; 0 repeats, < 0 reverses")
    output_strides: tuple[int, ...] = array("u32", MAX_RANK, "bytes")
    input_start: int = u32("byte of the first piece: what strides of less than 0 go back")
    piece_bytes: int = u32("size of a piece, 1 or more")


def _reference(memory: Memory, p: Copy) -> NDArray[np.uint8]:
    """Copy pieces of bytes and return them, uint8 [*shape, piece_bytes]."""
    if min(p.shape) < 1 or p.piece_bytes < 1:
        raise ProgramError(f"number and size of pieces must be 1 or more, not {p}")
    sources = p.input_start + _offsets(p.shape, p.input_strides, p.piece_bytes)
    targets = _offsets(p.shape, p.output_strides, p.piece_bytes)
    for touched, offsets in ((p.input, sources), (p.output, targets)):
        if offsets.min() != 0 or offsets.max() != touched.bytes - 1:
            raise ProgramError(f"a reference must hold what is touched, not {touched} ({p})")
    values = memory.gather(p.input, sources)
    memory.scatter(p.output, targets, values)
    return values


def _offsets(shape: Sequence[int], strides: Sequence[int], piece_bytes: int) -> NDArray[np.int64]:
    """Return where every byte of every piece lies, int64 [*shape, piece_bytes]."""
    offsets = np.arange(piece_bytes, dtype=np.int64)
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        steps = np.arange(size, dtype=np.int64) * stride
        offsets = steps.reshape(-1, *[1] * offsets.ndim) + offsets
    return offsets


def _is_one_piece(p: Copy) -> bool:
    return p.output.bytes == p.piece_bytes


def _work(p: Copy) -> Work:
    pieces = math.prod(p.shape)
    return Work(pieces * p.piece_bytes, pieces)


KERNELS = (
    Declaration(
        kernel=Kernel.COPY,
        params=Copy,
        reference=_reference,
        writes_output=True,
        may_slide=_is_one_piece,
        # Stores bound it. Measured in the detector of the public models, whose head joins pieces of
        # 12 to 546 bytes.
        cost=Cost(step=0.0, output=4.6, unit=25.0),
        work=_work,
    ),
)
