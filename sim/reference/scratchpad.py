"""The engine's scratchpad in numpy, and what brings sums to bytes there."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    MAX_KEPT_SUMS,
    SQUARE_BITS,
    SUM_BITS,
    EngineJob,
    JobFlag,
    SumFlag,
)
from kiwicha.errors import ProgramError
from kiwicha.numerics import requantization as numerics
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "SUM_LIMIT",
    "Ints",
    "Range",
    "Scratchpad",
    "requantized",
    "requantized_to_shorts",
]

Ints = NDArray[np.int64]
Range = tuple[int, int]
_POISON = 0x5A
SUM_LIMIT = 1 << (SUM_BITS - 1)
"""One more than the largest sum of the narrow mode and of the depthwise chains."""


class Scratchpad:
    """Memories of the engine: bytes, with a mark on every one that was written, sums and tables.

    Parameters
    ----------
    size_bytes : int
        Its size.

    Attributes
    ----------
    tables : int64 [256, 2] or None
        The last tables of a job with `JobFlag.FUSED` in this list.
    notes_writes : bool
        It notes for `take_written` where bytes are written.
    """

    def __init__(self, size_bytes: int) -> None:
        self.bytes = np.full(size_bytes, _POISON, np.uint8)
        self.is_written = np.zeros(size_bytes, np.bool_)
        self._sums: Ints = np.zeros(0, np.int64)
        self.tables: Ints | None = None
        self.notes_writes = False
        self._touched: list[Ints] = []

    def gather(self, addresses: Ints) -> Ints:
        """Return the int8 at addresses, which wrap."""
        return self.bytes[addresses % len(self.bytes)].view(np.int8).astype(np.int64)

    def write(self, addresses: Ints, values: NDArray[np.int8]) -> None:
        """Write int8 values."""
        self.bytes[addresses] = values.view(np.uint8)
        self.is_written[addresses] = True
        self.touch(addresses)

    def touch(self, addresses: Ints) -> None:
        """Note that bytes are written, if that is wanted."""
        if self.notes_writes:
            self._touched.append(addresses.reshape(-1))

    def take_written(self) -> Ints:
        """Return where bytes were written since this was last asked, of those that are defined."""
        touched = np.concatenate([np.zeros(0, np.int64), *self._touched])
        self._touched.clear()
        addresses = np.unique(touched % len(self.bytes))
        defined: Ints = addresses[self.is_written[addresses]]
        return defined

    def spoil(self, first: int, end: int) -> None:
        """Overwrite bytes with what is not defined."""
        self.bytes[first:end] = _POISON
        self.is_written[first:end] = False

    def keep(self, sums: Ints) -> None:
        """Keep int32 for the next job.

        Raises
        ------
        ProgramError
            If they are too many.
        """
        if sums.size > MAX_KEPT_SUMS:
            raise ProgramError(f"a job must keep up to {MAX_KEPT_SUMS:,} sums, not {sums.size:,}")
        self._sums = sums.copy()

    def kept(self, count: int) -> Ints:
        """Return the int32 that were kept.

        Raises
        ------
        ProgramError
            If they are not as many.
        """
        if self._sums.size != count:
            raise ProgramError(f"a job of {count:,} sums must not continue {self._sums.size:,}")
        return self._sums


def requantized(job: EngineJob, sums: Ints, parameters: Parameters) -> NDArray[np.int8]:
    """Return the bytes that come of sums, whose last dimension is that of the parameters.

    With `SumFlag.CONTINUE` their biases are in them; with `JobFlag.SQUARE` it is their squares.

    Raises
    ------
    ProgramError
        If a sum does not fit the job's mode, or if channels that must be scaled alike are not.
    """
    is_continued = bool(job.sums & SumFlag.CONTINUE)
    accumulators = numerics.wrap_int32(sums if is_continued else sums + parameters.bias)
    if not job.flags & JobFlag.WIDE:
        shifted = accumulators << np.maximum(parameters.shift, 0)
        if shifted.min(initial=0) < -SUM_LIMIT or shifted.max(initial=0) >= SUM_LIMIT:
            raise ProgramError("accumulators of a narrow job must have 25 bits")
    if job.flags & JobFlag.SQUARE:
        accumulators = _squares(accumulators, parameters)
    return numerics.requantize(
        accumulators,
        parameters.multiplier,
        parameters.shift,
        job.output_zero_point,
        job.activation_min,
        job.activation_max,
    ).astype(np.int8)


def requantized_to_shorts(job: EngineJob, sums: Ints, parameters: Parameters) -> Ints:
    """Return the int16 that come of sums with `JobFlag.SHORT`, likewise; they have all 32 bits."""
    is_continued = bool(job.sums & SumFlag.CONTINUE)
    return numerics.requantize_to_shorts(
        numerics.wrap_int32(sums if is_continued else sums + parameters.bias),
        parameters.multiplier,
        parameters.shift,
        job.activation_min,
        job.activation_max,
    )


def _squares(sums: Ints, parameters: Parameters) -> Ints:
    """Return the squares of sums, for channels that are scaled alike."""
    half = 1 << (SQUARE_BITS - 1)
    if sums.min(initial=0) < -half or sums.max(initial=0) >= half:
        raise ProgramError(f"sums that are squared must have {SQUARE_BITS} bits")
    scales = np.stack([parameters.multiplier.reshape(-1), parameters.shift.reshape(-1)])
    if (scales != scales[:, :1]).any():
        raise ProgramError("channels whose sums are squared must have one multiplier and shift")
    return sums**2
