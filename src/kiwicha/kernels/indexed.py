"""GATHER and SCATTER: pieces of bytes at places that another tensor names."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, i32, ref, u32
from kiwicha.contract.program import MAX_RANK, DType, Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.element_types import numpy_type
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "Gather", "Scatter"]


@dataclass(frozen=True)
class Gather(Struct):
    """GATHER, GATHER_ND and EMBEDDING_LOOKUP with indices that may be computed.

    For each of ``batches`` there are ``outer`` blocks of the input, all with the same ``count``
    places: each is ``depth`` indices, which count in pieces, rows of pieces, and so on. An index
    that its dimension does not have ends the inference.
    """

    input: Ref = ref("any type")
    indices: Ref = ref("int32 or int64 [batches, count, depth]")
    output: Ref = ref("the same type as input [batches, outer, count] of pieces")
    batches: int = u32("batches that have indices of their own")
    outer: int = u32("blocks of a batch")
    count: int = u32("places in a block")
    depth: int = u32("indices of a place")
    sizes: tuple[int, ...] = array("u32", MAX_RANK, "dimensions that are indexed; the rest is 1")
    piece_bytes: int = u32("what is behind those dimensions")
    index_words: int = u32("1: int32, 2: int64")


@dataclass(frozen=True)
class Scatter(Struct):
    """SCATTER_ND: adds up pieces at places that may be computed; elsewhere is 0.

    An index that its dimension does not have ends the inference.
    """

    input: Ref = ref("int8, int32, int64 or bool [count, piece]")
    indices: Ref = ref("int32 or int64 [count, depth]")
    output: Ref = ref("the same type as input [sizes, piece]")
    count: int = u32("places")
    depth: int = u32("indices of a place")
    sizes: tuple[int, ...] = array("u32", MAX_RANK, "dimensions that are indexed; the rest is 1")
    piece: int = u32("elements behind those dimensions")
    dtype: int = u32("DType of input and output")
    zero: int = i32("what stands for 0: -128 for uint8, which is less by 128; else 0")
    index_words: int = u32("1: int32, 2: int64")


def _places(memory: Memory, p: Gather | Scatter, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the number of the piece that each place is."""
    dtype = np.int64 if p.index_words == 2 else np.int32
    indices = memory.load(p.indices, dtype, (*shape, p.depth)).astype(np.int64)
    sizes = np.array(p.sizes[: p.depth], np.int64)
    if ((indices < 0) | (indices >= sizes)).any():
        raise ProgramError(f"indices must be less than {sizes.tolist()}, not {indices.tolist()}")
    places = np.zeros(shape, np.int64)
    for number, size in enumerate(sizes):
        places = places * size + indices[..., number]
    return places


def _gather(memory: Memory, p: Gather) -> NDArray[np.uint8]:
    places = _places(memory, p, (p.batches, p.count))
    total = int(np.prod(p.sizes))
    source = memory.load(p.input, np.uint8, (p.batches, p.outer, total, p.piece_bytes))
    return np.stack([source[batch][:, places[batch]] for batch in range(p.batches)])


def _scatter(memory: Memory, p: Scatter) -> NDArray[Any]:
    places, dtype = _places(memory, p, (p.count,)), numpy_type(p.dtype)
    updates = memory.load(p.input, dtype, (p.count, p.piece))
    output = np.full((int(np.prod(p.sizes)), p.piece), p.zero, np.int64)
    with np.errstate(over="ignore"):
        np.add.at(output, places, updates.astype(np.int64) - p.zero)
    return (output != 0) if p.dtype == DType.BOOL else output.astype(dtype)


def _gather_work(p: Gather) -> Work:
    pieces = p.batches * p.outer * p.count
    return Work(pieces * p.piece_bytes, pieces, pieces * p.depth)


def _scatter_work(p: Scatter) -> Work:
    return Work(p.output.bytes, p.count * p.piece, p.count * p.depth)


KERNELS = (
    Declaration(
        kernel=Kernel.GATHER,
        params=Gather,
        reference=_gather,
        is_on_demand=True,
        cost=Cost(step=391.0, output=3.06, unit=37.4, extra=40.6),
        work=_gather_work,
    ),
    Declaration(
        kernel=Kernel.SCATTER,
        params=Scatter,
        reference=_scatter,
        is_on_demand=True,
        cost=Cost(step=496.0, output=1.3, unit=31.9, extra=44.1),
        work=_scatter_work,
    ),
)
