"""A plan: jobs and transfers of a region in one order, and their places in the scratchpad."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.element_operations import ElementOperation, RowAddition
from kiwicha.compiler.engine.ir.move_jobs import MoveJob
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.recurrent_operation import RecurrentOperation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.memory.placement import Buffer
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.engine import MAX_JOBS

__all__ = [
    "MAX_REGION_JOBS",
    "Beside",
    "BufferAddress",
    "Compute",
    "Event",
    "Job",
    "JobGeometry",
    "PartOfRows",
    "Plan",
    "PlannedCascade",
    "PlannedMove",
    "PlannedRecurrence",
    "Transfer",
]

MAX_REGION_JOBS = 16 * MAX_JOBS
"""Jobs of a region, at most, in as many lists: with more it would take long to compile."""
Constant = bytes
"""What a `Transfer` loads that is no tensor: among its fields, `bytes` is a number."""


@dataclass(frozen=True)
class BufferAddress:
    """A byte of a buffer of the scratchpad; where the buffer lies is decided later."""

    buffer: int
    offset: int = 0


@dataclass(frozen=True)
class PartOfRows:
    """Columns of the input that lie in the scratchpad, where the others do not.

    Parameters
    ----------
    first, columns : int
        The first one, and how many.
    row_bytes : int
        From one row of them to the next.
    """

    first: int
    columns: int
    row_bytes: int


@dataclass(frozen=True, kw_only=True)
class JobGeometry:
    """The rows of an operation that one job computes, and where they are in the scratchpad.

    Parameters
    ----------
    input_addresses : tuple of int
        First byte of row ``first_input_row`` of each input.
    input_pitch : int
        Bytes from one input pixel to the next.
    first_input_row, input_rows : int
        Rows that lie there; those outside must be outside the image.
    output_address : int
        Where row ``first_output_row`` goes.
    output_pitch : int
        Bytes from one output pixel to the next.
    first_output_row, output_rows : int
        Rows to compute.
    output_row_bytes : int
        Bytes from one of these rows to the next.
    columns : range or None
        Columns of the output to compute, None if it is all of them. Addresses are those of
        column 0.
    part : PartOfRows or None
        Of the input what lies there; None if rows are whole.
    is_by_rows : bool
        What waits for it counts its rows.
    """

    input_addresses: tuple[int, ...]
    input_pitch: int
    first_input_row: int
    input_rows: int
    output_address: int
    output_pitch: int
    first_output_row: int
    output_rows: int
    output_row_bytes: int
    columns: range | None = None
    part: PartOfRows | None = None
    is_by_rows: bool = False


@dataclass(frozen=True)
class Transfer:
    """Bytes that move between a tensor in the arena and a buffer in the scratchpad.

    Parameters
    ----------
    tensor : int
        The tensor; `NO_TENSOR` for a constant.
    tensor_offset : int
        Its first byte that moves.
    bytes : int
        How many move.
    address : BufferAddress
        Where they are in the scratchpad.
    is_store : bool
        From the scratchpad to the arena.
    constant : bytes
        What is loaded if it is no tensor.
    """

    tensor: int
    tensor_offset: int
    bytes: int
    address: BufferAddress
    is_store: bool
    constant: Constant = b""

    @property
    def reads(self) -> set[int]:
        """Buffers that are read."""
        return {self.address.buffer} if self.is_store else set()

    @property
    def writes(self) -> set[int]:
        """Buffers that are written."""
        return set() if self.is_store else {self.address.buffer}


@dataclass(frozen=True, eq=False, kw_only=True)
class Compute:
    """A job that computes.

    Parameters
    ----------
    operation : JobOperation
        What it computes.
    inputs : tuple of BufferAddress
        Row ``first_input_row`` of each input.
    output : BufferAddress
        Row ``first_output_row`` of the output.
    input_pitch, output_pitch, first_input_row, input_rows, first_output_row, output_rows
        As in `JobGeometry`.
    output_row_bytes, columns, part
        Likewise.
    """

    operation: JobOperation
    inputs: tuple[BufferAddress, ...]
    input_pitch: int
    first_input_row: int
    input_rows: int
    output: BufferAddress
    output_pitch: int
    first_output_row: int
    output_rows: int
    output_row_bytes: int
    columns: range | None = None
    part: PartOfRows | None = None

    def geometry(self, offsets: tuple[int, ...]) -> JobGeometry:
        """Return its rows and addresses, given the offsets of the buffers in the scratchpad."""
        return JobGeometry(
            input_addresses=tuple(offsets[at.buffer] + at.offset for at in self.inputs),
            input_pitch=self.input_pitch,
            first_input_row=self.first_input_row,
            input_rows=self.input_rows,
            output_address=offsets[self.output.buffer] + self.output.offset,
            output_pitch=self.output_pitch,
            first_output_row=self.first_output_row,
            output_rows=self.output_rows,
            output_row_bytes=self.output_row_bytes,
            columns=self.columns,
            part=self.part,
        )

    @property
    def reads(self) -> set[int]:
        """Buffers that are read."""
        return {address.buffer for address in self.inputs}

    @property
    def writes(self) -> set[int]:
        """Buffers that are written."""
        return {self.output.buffer}

    @property
    def read_ends(self) -> list[tuple[BufferAddress, int]]:
        """Inputs of an element-wise job, and where in their buffers it stops to read.

        It reads whole beats, also where its rows start or end within one; those of a `RowAddition`
        do not.
        """
        if not isinstance(self.operation, ElementOperation) or isinstance(
            self.operation, RowAddition
        ):
            return []
        window = self.operation.window
        skipped = (self.first_output_row - self.first_input_row) * window.input_columns
        ends = []
        for tensor, address in zip(self.operation.inputs, self.inputs, strict=True):
            is_broadcast = tensor in self.operation.broadcast_inputs
            before = 0 if is_broadcast else skipped * self.input_pitch
            pixels = 1 if is_broadcast else self.output_rows * window.output_columns
            size = pixels * self.input_pitch
            if self.operation.is_flat:
                size = -(-size // self.operation.beat_bytes) * self.operation.beat_bytes
            else:
                size += padded(window.channels) - self.input_pitch
            ends.append((address, address.offset + before + size))
        return ends


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedMove:
    """A job that moves bytes.

    Parameters
    ----------
    operation : MoveOperation or RecurrentOperation
        What it is part of.
    source, target : int
        Buffers that it reads and writes.
    job : MoveJob
        What it moves, counted from their first bytes.
    """

    operation: MoveOperation | RecurrentOperation
    source: int
    target: int
    job: MoveJob

    @property
    def reads(self) -> set[int]:
        """Buffers that are read."""
        return {self.source}

    @property
    def writes(self) -> set[int]:
        """Buffers that are written."""
        return {self.target}

    @property
    def read_ends(self) -> list[tuple[BufferAddress, int]]:
        """Nothing: it reads only bytes that it moves."""
        return []


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedRecurrence:
    """A job that makes a step of an LSTM.

    Parameters
    ----------
    operation : RecurrentOperation
        What it is part of.
    input_sums, hidden_sums, hidden, cell, output : BufferAddress
        As in `kiwicha.contract.recurrences.EngineRecurrence`.
    """

    operation: RecurrentOperation
    input_sums: BufferAddress
    hidden_sums: BufferAddress
    hidden: BufferAddress
    cell: BufferAddress
    output: BufferAddress

    @property
    def places(self) -> dict[str, BufferAddress]:
        """What it reads and writes, by the names of the job's fields."""
        return {
            "input_sums": self.input_sums,
            "hidden_sums": self.hidden_sums,
            "hidden": self.hidden,
            "cell": self.cell,
            "output": self.output,
        }

    @property
    def reads(self) -> set[int]:
        """Buffers that are read."""
        return {self.input_sums.buffer, self.hidden_sums.buffer, self.cell.buffer}

    @property
    def writes(self) -> set[int]:
        """Buffers that are written."""
        return {self.hidden.buffer, self.cell.buffer, self.output.buffer}

    @property
    def read_ends(self) -> list[tuple[BufferAddress, int]]:
        """Nothing: it reads only bytes that it adds."""
        return []


Job = Compute | PlannedMove | PlannedRecurrence
Event = Transfer | Job


@dataclass(frozen=True)
class Beside:
    """A depthwise job of the unit, and jobs of the array beside it: numbers of events.

    Parameters
    ----------
    unit : int
        The job, which stands before those of the array.
    before : int
        That beside which it works.
    follows : bool
        It reads what that one writes, row by row.
    consumer : int or None
        The one behind that, if there is one, which waits for it.
    is_paced : bool
        It waits row by row.
    """

    unit: int
    before: int
    follows: bool
    consumer: int | None
    is_paced: bool


@dataclass(frozen=True)
class PlannedCascade:
    """A cascade in a plan: positions of its operations' layers, and how many jobs it has."""

    positions: tuple[int, ...]
    jobs: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """How a region is done: in which order, and in which bytes of the scratchpad.

    Parameters
    ----------
    region : Region
        What is done.
    cascades : tuple of PlannedCascade
        Cascades in order.
    streamed : tuple of int
        Tensors that move between arena and scratchpad in stripes.
    passed : tuple of int
        Tensors of which only stripes ever exist.
    events : tuple of Event
        Jobs and transfers in one order.
    beside : tuple of Beside
        Jobs of the depthwise unit; no job is that of two of them.
    waits : tuple of int
        For each transfer how many jobs, for each job how many transfers must be complete before.
    buffers, offsets : tuple
        Buffers of the scratchpad, which live from one event to another, by their numbers; and
        where each begins.
    """

    region: Region
    cascades: tuple[PlannedCascade, ...]
    streamed: tuple[int, ...]
    passed: tuple[int, ...]
    events: tuple[Event, ...]
    waits: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    offsets: tuple[int, ...]
    beside: tuple[Beside, ...] = ()

    def verify(self, capacity: int) -> None:
        """Assert that the scratchpad holds it, and that its numbers agree."""
        assert self.scratchpad_bytes <= capacity
        assert all(offset % ALIGNMENT_BYTES == 0 for offset in self.offsets)
        assert len(self.waits) == len(self.events)
        jobs = [event for event in self.events if isinstance(event, Job)]
        assert sum(cascade.jobs for cascade in self.cascades) == len(jobs)
        assert not {*self.streamed} & {*self.passed}

    @property
    def scratchpad_bytes(self) -> int:
        """Bytes of the scratchpad in use."""
        ends = (o + b.aligned_bytes for o, b in zip(self.offsets, self.buffers, strict=True))
        return max(ends, default=0)
