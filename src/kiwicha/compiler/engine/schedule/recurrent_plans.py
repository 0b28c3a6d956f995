"""Plans of LSTMs: all steps in one list, with states that stay in the scratchpad.

A job computes what the input adds to the gates in all steps, or in as many as fit. Then there are
two jobs for each step: what the hidden state adds, and the step. At the end both states go back to
their tensors. Of int16 each product is a series of jobs, and moves bring input and hidden state to
the planes that these read, and the latter back.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.move_jobs import move_jobs
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import ComputeOperation
from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    Job,
    Plan,
    PlannedMove,
    PlannedRecurrence,
    Transfer,
)
from kiwicha.compiler.engine.ir.recurrent_operation import RecurrentOperation
from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.schedule.buffers import Builder
from kiwicha.compiler.engine.schedule.plans import plan_of_one
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.recurrences import GATE_BYTES

__all__ = ["recurrent_plan"]


def recurrent_plan(region: Region, operation: RecurrentOperation, config: Config) -> Plan:
    """Return the plan of a region of one LSTM, in blocks of about as many rows as fit.

    Parameters
    ----------
    region : Region
        Of this operation alone.
    operation : RecurrentOperation
        The LSTM.
    config : Config
        With an engine.

    Raises
    ------
    RefusedError
        If not even one step fits, or there are too many.
    """
    rows = operation.window.output_rows
    while rows:
        way = _Way(operation, rows)
        if way.jobs > MAX_REGION_JOBS:
            raise RefusedError(operation.position, f"takes {way.jobs:,} jobs, too many for a list")
        builder = Builder()
        _add(builder, way)
        jobs = sum(isinstance(event, Job) for event in builder.events)
        plan = plan_of_one(region, builder, jobs, config.scratchpad_bytes)
        if plan is not None:
            return plan
        rows //= 2
    why = f"needs more than the {config.scratchpad_bytes:,} bytes of the scratchpad for one step"
    raise RefusedError(operation.position, why)


@dataclass(frozen=True, eq=False)
class _Block:
    """Rows that follow each other, each a step, and the batch of each."""

    rows: range
    batches: Sequence[int]


@dataclass(frozen=True, eq=False)
class _Way:
    """Blocks of up to so many rows."""

    operation: RecurrentOperation
    rows: int

    @cached_property
    def blocks(self) -> list[_Block]:
        """All blocks, in order."""
        return list(self._blocks())

    def _blocks(self) -> Iterator[_Block]:
        item = self.operation
        rows = range(item.window.output_rows)
        # Batches go one after the other, or side by side.
        size = len(rows) if item.is_time_major else item.step_count
        for start in range(0, len(rows), size):
            for first in range(start, start + size, self.rows):
                some = rows[first : min(first + self.rows, start + size)]
                batches = [
                    row % item.batches if item.is_time_major else start // size for row in some
                ]
                yield _Block(some, batches)

    @property
    def jobs(self) -> int:
        """Jobs of all blocks, without moves."""
        item = self.operation
        of_input, of_hidden = (
            len(product.job_operations) for product in (item.input_product, item.hidden_product)
        )
        return of_input * len(self.blocks) + (of_hidden + 1) * item.batches * item.step_count


@dataclass(frozen=True)
class _States:
    """Buffers of the states, the hidden one as its product reads it, and the bytes of a batch."""

    hidden: int
    cell: int
    hidden_bytes: int
    cell_bytes: int


def _add(builder: Builder, way: _Way) -> None:
    """Add the events of an LSTM."""
    item, planes = way.operation, way.operation.planes
    sizes = {tensor: item.input_image(tensor).bytes for tensor in item.states}
    buffers = {
        tensor: builder.buffer(f"{name} states", sizes[tensor])
        for tensor, name in ((item.hidden, "hidden"), (item.cell, "cell"))
    }
    hidden, hidden_bytes = buffers[item.hidden], item.units
    if planes is not None:
        hidden_bytes = planes.hidden.output_image.bytes // item.batches
        hidden = builder.buffer("planes of hidden states", item.batches * hidden_bytes)
    states = _States(hidden, buffers[item.cell], hidden_bytes, item.units * GATE_BYTES)
    _move_states(builder, sizes, buffers, is_store=False)
    if planes is not None:
        _add_move(builder, item, planes.hidden, BufferAddress(buffers[item.hidden]), hidden)
    inputs: dict[int, BufferAddress] = {}

    def load(number: int) -> None:
        if number < len(way.blocks) and number not in inputs:
            inputs[number] = _load(builder, item, way.blocks[number].rows)

    hidden_sums = BufferAddress(builder.buffer("sums of hidden states", _sum_bytes(item)))
    for number, block in enumerate(way.blocks):
        load(number)
        load(number + 1)
        _add_block(builder, item, block, inputs[number], hidden_sums, states)
    if planes is not None:
        _add_move(builder, item, planes.hidden_back, BufferAddress(hidden), buffers[item.hidden])
    _move_states(builder, sizes, buffers, is_store=True)


def _add_block(
    builder: Builder,
    item: RecurrentOperation,
    block: _Block,
    source: BufferAddress,
    hidden_sums: BufferAddress,
    states: _States,
) -> None:
    """Add the jobs of a block, and the transfer of its outputs."""
    rows, pitch, size = block.rows, _sum_bytes(item), item.output_channels
    name = f"rows {rows.start} on of"
    sums = builder.buffer(f"{name} sums of inputs", len(rows) * pitch)
    output = _place(builder, f"{name} {item.output}", rows, size)
    if item.planes is not None:
        source = _in_planes(builder, item, item.planes.inputs, rows, source)
    _add_product(builder, item.input_product, rows, source, BufferAddress(sums), pitch)
    uppers = max(-item.lower_step, 0)
    for number, batch in enumerate(block.batches):
        state = BufferAddress(states.hidden, batch * states.hidden_bytes)
        _add_product(builder, item.hidden_product, range(1), state, hidden_sums, pitch)
        builder.add(
            PlannedRecurrence(
                operation=item,
                input_sums=BufferAddress(sums, number * pitch + uppers),
                hidden_sums=BufferAddress(hidden_sums.buffer, hidden_sums.offset + uppers),
                hidden=state,
                cell=BufferAddress(states.cell, batch * states.cell_bytes),
                output=BufferAddress(output.buffer, output.offset + number * size),
            )
        )
    builder.add(
        Transfer(
            tensor=item.output,
            tensor_offset=rows.start * size,
            bytes=len(rows) * size,
            address=output,
            is_store=True,
        )
    )


def _add_product(
    builder: Builder,
    product: ComputeOperation,
    rows: range,
    source: BufferAddress,
    target: BufferAddress,
    pitch: int,
) -> None:
    """Add the jobs of some rows of a product, given where the first of them lies and goes."""
    window = product.window
    # Of int16 with few channels a row of the input is two.
    of_a_row = window.input_rows // window.output_rows
    for piece in product.within(rows.start, len(rows)):
        row = piece.rows.start - rows.start
        builder.add(
            Compute(
                operation=piece.operation,
                inputs=(_behind(source, piece.first_input_channel),),
                input_pitch=window.channels,
                first_input_row=of_a_row * rows.start,
                input_rows=of_a_row * len(rows),
                output=_behind(target, row * pitch + piece.first_output_channel),
                output_pitch=pitch,
                first_output_row=piece.rows.start,
                output_rows=len(piece.rows),
                output_row_bytes=pitch,
            )
        )


def _in_planes(
    builder: Builder,
    item: RecurrentOperation,
    of_all: MoveOperation,
    rows: range,
    source: BufferAddress,
) -> BufferAddress:
    """Add the move of some rows of the input to planes; return where these are."""
    image = of_all.output_image
    of_a_row = image.rows // item.window.output_rows
    first_row, end_row = (of_a_row * row for row in (rows.start, rows.stop))
    name = f"planes of rows {rows.start} on of {item.inputs[0]}"
    buffer = builder.buffer(name, (end_row - first_row) * image.row_bytes)
    first, start = first_row * image.row_bytes, rows.start * item.window.channels
    for copy in of_all.parts(first_row, end_row):
        moved = dataclasses.replace(copy, target_start=copy.target_start - first)
        if copy.source is not None:
            moved = dataclasses.replace(moved, source_start=copy.source_start - start)
        _add_copy(builder, item, moved, source, buffer)
    return BufferAddress(buffer)


def _add_move(
    builder: Builder,
    item: RecurrentOperation,
    move: MoveOperation,
    source: BufferAddress,
    target: int,
) -> None:
    """Add the jobs of a whole move."""
    for copy in move.copies:
        _add_copy(builder, item, copy, source, target)


def _add_copy(
    builder: Builder,
    item: RecurrentOperation,
    copy: StridedCopy,
    source: BufferAddress,
    target: int,
) -> None:
    if copy.source is None:
        source = BufferAddress(builder.fill(copy.fill))
    there = dataclasses.replace(copy, source_start=copy.source_start + source.offset)
    for job in move_jobs(there):
        builder.add(PlannedMove(operation=item, source=source.buffer, target=target, job=job))


def _load(builder: Builder, item: RecurrentOperation, rows: range) -> BufferAddress:
    """Add the transfer of some rows of the input; return where they are."""
    tensor, channels = item.inputs[0], item.window.channels
    place = _place(builder, f"rows {rows.start} on of {tensor}", rows, channels)
    builder.add(
        Transfer(
            tensor=tensor,
            tensor_offset=rows.start * channels,
            bytes=len(rows) * channels,
            address=place,
            is_store=False,
        )
    )
    return place


def _place(builder: Builder, name: str, rows: range, channels: int) -> BufferAddress:
    """Return where rows of a tensor lie in a new buffer: as far behind a line as in the arena."""
    offset = rows.start * channels % LINE_BYTES
    return BufferAddress(builder.buffer(name, offset + len(rows) * channels), offset)


def _move_states(
    builder: Builder, sizes: Mapping[int, int], buffers: Mapping[int, int], *, is_store: bool
) -> None:
    """Add the transfers of the states, given their bytes and buffers."""
    for tensor, buffer in buffers.items():
        builder.add(
            Transfer(
                tensor=tensor,
                tensor_offset=0,
                bytes=sizes[tensor],
                address=BufferAddress(buffer),
                is_store=is_store,
            )
        )


def _behind(address: BufferAddress, size: int) -> BufferAddress:
    return BufferAddress(address.buffer, address.offset + size)


def _sum_bytes(item: RecurrentOperation) -> int:
    """Return the bytes of what is added to the gates of a row."""
    return GATE_BYTES * item.plane_bytes
