"""The arena and constants of a Program under execution in numpy, every access checked."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kiwicha.contract.layout import Ref, Struct
from kiwicha.errors import ProgramError

__all__ = ["Memory"]

_POISON = 0xA5
"""What the arena holds before a tensor is written: no kernel may depend on it."""


class Memory:
    """Bytes that kernels read and write.

    Parameters
    ----------
    arena_bytes : int
        Size of the arena. Nothing in it counts as initialised.
    constants : bytes
        What constant references point into.
    """

    def __init__(self, arena_bytes: int, constants: bytes) -> None:
        self._arena = np.full(arena_bytes, _POISON, np.uint8)
        self._is_initialised = np.zeros(arena_bytes, np.bool_)
        self._constants = np.frombuffer(constants, np.uint8)

    def load(self, ref: Ref, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return a copy of the tensor of type ``dtype`` and shape ``shape`` at ``ref``.

        Raises
        ------
        ProgramError
            If the tensor is larger than its reference, outside its memory, misaligned, or if it
            holds a byte of the arena that nothing has written.
        """
        kind = np.dtype(dtype).newbyteorder("<")
        size = _size_bytes(kind, shape)
        if ref.bytes < size:
            raise ProgramError(f"a tensor of {size} bytes must fit its reference, not {ref}")
        if ref.offset % kind.itemsize:
            raise ProgramError(f"a tensor of {kind} must be aligned to {kind.itemsize}, not {ref}")
        end = ref.offset + size
        memory = self._constants if ref.is_constant else self._arena
        _check_inside(ref, len(memory))
        if not ref.is_constant and not self._is_initialised[ref.offset : end].all():
            raise ProgramError(f"a tensor must be written before it is read, not {ref}")
        return memory[ref.offset : end].view(kind).astype(dtype).reshape(shape)

    def store(self, ref: Ref, values: NDArray[Any]) -> None:
        """Write a tensor to the arena.

        Raises
        ------
        ProgramError
            If ``ref`` is constant, outside the arena, or smaller than ``values``.
        """
        raw = np.ascontiguousarray(values, values.dtype.newbyteorder("<")).reshape(-1)
        size = raw.nbytes
        self._check_writable(ref)
        if ref.bytes < size:
            raise ProgramError(f"a tensor of {size} bytes must fit its reference, not {ref}")
        self._arena[ref.offset : ref.offset + size] = raw.view(np.uint8)
        self._is_initialised[ref.offset : ref.offset + size] = True

    def gather(self, ref: Ref, offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the bytes at ``offsets`` from the start of ``ref``, which must all be written.

        Raises
        ------
        ProgramError
            If a byte is outside the reference or holds what nothing has written, or if the
            reference is outside its memory.
        """
        memory = self._constants if ref.is_constant else self._arena
        _check_inside(ref, len(memory))
        _check_offsets(ref, offsets)
        places = ref.offset + offsets
        if not ref.is_constant and not self._is_initialised[places].all():
            raise ProgramError(f"a tensor must be written before it is read, not {ref}")
        return memory[places]

    def scatter(self, ref: Ref, offsets: NDArray[np.int64], values: NDArray[np.uint8]) -> None:
        """Write bytes of the arena at ``offsets`` from the start of ``ref``.

        Raises
        ------
        ProgramError
            If ``ref`` is constant or outside the arena, or if a byte is outside the reference.
        """
        self._check_writable(ref)
        _check_offsets(ref, offsets)
        self._arena[ref.offset + offsets] = values
        self._is_initialised[ref.offset + offsets] = True

    def spoil(self, ref: Ref) -> None:
        """Overwrite working memory: what a kernel leaves there is not defined.

        Raises
        ------
        ProgramError
            If ``ref`` is constant or outside the arena.
        """
        self._check_writable(ref)
        self._arena[ref.offset : ref.offset + ref.bytes] = _POISON
        self._is_initialised[ref.offset : ref.offset + ref.bytes] = False

    def _check_writable(self, ref: Ref) -> None:
        if ref.is_constant:
            raise ProgramError(f"a result must lie in the arena, not at {ref}")
        _check_inside(ref, len(self._arena))


def check_overlap(params: Struct, *, may_be_in_place: bool, may_slide: bool = False) -> None:
    """Check that what a kernel writes is not what it reads.

    Parameters
    ----------
    params : Struct
        Parameters of the kernel; ``output`` and ``scratch`` are written, all others are read.
    may_be_in_place : bool
        The output may be the very memory of an input.
    may_slide : bool
        The output may begin before an input and end within it.

    Raises
    ------
    ProgramError
        If a written range overlaps any other.
    """
    refs = {name: getattr(params, name) for name, kind, _ in params.layout() if kind.base == "ref"}
    for written in ("output", "scratch"):
        for other, ref in refs.items():
            if written not in refs or other == written or not _overlap(refs[written], ref):
                continue
            if may_be_in_place and written == "output" and refs[written] == ref:
                continue
            if may_slide and written == "output" and refs[written].offset < ref.offset:
                continue
            raise ProgramError(f"{written} must not overlap {other} ({refs[written]} and {ref})")


def _overlap(a: Ref, b: Ref) -> bool:
    if a.is_constant or b.is_constant or not a.bytes or not b.bytes:
        return False
    return a.offset < b.offset + b.bytes and b.offset < a.offset + a.bytes


def _check_inside(ref: Ref, memory_bytes: int) -> None:
    if ref.offset + ref.bytes > memory_bytes:
        what = "constants" if ref.is_constant else "arena"
        raise ProgramError(
            f"a tensor must lie inside the {memory_bytes} bytes of the {what}, {ref}"
        )


def _check_offsets(ref: Ref, offsets: NDArray[np.int64]) -> None:
    if offsets.min() < 0 or offsets.max() >= ref.bytes:
        raise ProgramError(
            f"what is read or written must lie inside its reference, not outside {ref}"
        )


def _size_bytes(kind: "np.dtype[Any]", shape: tuple[int, ...]) -> int:
    size = kind.itemsize
    for dimension in shape:
        size *= dimension
    return size
