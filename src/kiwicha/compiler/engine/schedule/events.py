"""Transfers and jobs of a run in one order, and what each of them must wait for."""

from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.engine.ir.layers import EngineLayer, padded
from kiwicha.contract.engine import ELEMENT_KINDS

__all__ = ["Compute", "Event", "Place", "Transfer", "waits"]


@dataclass(frozen=True)
class Place:
    """A byte of a buffer."""

    buffer: int
    offset: int = 0


@dataclass(frozen=True)
class Transfer:
    """Bytes that move between a tensor in the arena and a buffer in the scratchpad.

    Parameters
    ----------
    tensor : int
        The tensor, as stored.
    tensor_offset : int
        Its first byte that moves.
    bytes : int
        How many move.
    place : Place
        Where they are in the scratchpad.
    is_store : bool
        From the scratchpad to the arena.
    """

    tensor: int
    tensor_offset: int
    bytes: int
    place: Place
    is_store: bool

    @property
    def reads(self) -> set[int]:
        """Buffers that are read."""
        return {self.place.buffer} if self.is_store else set()

    @property
    def writes(self) -> set[int]:
        """Buffers that are written."""
        return set() if self.is_store else {self.place.buffer}


@dataclass(frozen=True, eq=False)
class Compute:
    """A job.

    Parameters
    ----------
    layer : EngineLayer
        What it computes.
    inputs : tuple of Place
        Row ``first_input_row`` of each input.
    input_pitch, output_pitch : int
        Bytes per pixel.
    first_input_row, input_rows : int
        Rows that are there.
    output : Place
        Row ``first_output_row`` of the output.
    first_output_row, output_rows : int
        Rows to compute.
    column : int or None
        The only column to compute.
    """

    layer: EngineLayer
    inputs: tuple[Place, ...]
    input_pitch: int
    first_input_row: int
    input_rows: int
    output: Place
    output_pitch: int
    first_output_row: int
    output_rows: int
    column: int | None = None

    @property
    def reads(self) -> set[int]:
        """Buffers that are read."""
        return {place.buffer for place in self.inputs}

    @property
    def writes(self) -> set[int]:
        """Buffers that are written."""
        return {self.output.buffer}

    @property
    def read_ends(self) -> list[tuple[Place, int]]:
        """Inputs of an element-wise job, and where in their buffers it stops to read.

        It reads whole beats, also where its rows start or end within one.
        """
        if self.layer.kind not in ELEMENT_KINDS:
            return []
        window = self.layer.window
        skipped = (self.first_output_row - self.first_input_row) * window.input_columns
        ends = []
        for tensor, place in zip(self.layer.inputs, self.inputs, strict=True):
            is_whole = tensor in self.layer.whole_inputs
            before = 0 if is_whole else skipped * self.input_pitch
            pixels = 1 if is_whole else self.output_rows * window.output_columns
            size = pixels * self.input_pitch
            if self.layer.is_flat:
                size = padded(size)
            else:
                size += padded(window.channels) - self.input_pitch
            ends.append((place, place.offset + before + size))
        return ends


Event = Transfer | Compute


def waits(events: Sequence[Event], offsets: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return for each transfer how many jobs, for each job how many transfers must be complete.

    Jobs are executed in order, and so are transfers. Two events that touch the same bytes, one of
    them writing, must keep their order.

    Parameters
    ----------
    events : sequence of Event
        In an order in which they could be executed one by one.
    offsets, sizes : sequence of int
        Places of the buffers.
    """

    def meet(first: set[int], second: set[int]) -> bool:
        return any(
            offsets[a] < offsets[b] + sizes[b] and offsets[b] < offsets[a] + sizes[a]
            for a in first
            for b in second
        )

    counts = []
    jobs = transfers = 0
    for number, event in enumerate(events):
        is_job = isinstance(event, Compute)
        left = transfers if is_job else jobs
        # Most wait for something near: the last one counts, as each kind keeps its order.
        for earlier in reversed(events[:number] if left else []):
            if isinstance(earlier, Compute) is is_job:
                continue
            if meet(earlier.writes, event.reads | event.writes) or meet(
                earlier.reads, event.writes
            ):
                break
            left -= 1
        counts.append(left)
        jobs += is_job
        transfers += not is_job
    return counts
