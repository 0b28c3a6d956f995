"""Plans of LSTMs: all steps in one list, with states that stay in the scratchpad.

A job computes what the input adds to the gates in all steps, or in as many as fit. Then there are
two jobs for each step: what the hidden state adds, and the step. At the end both states go back to
their tensors.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    Plan,
    PlannedRecurrence,
    Transfer,
)
from kiwicha.compiler.engine.ir.recurrent_operation import RecurrentOperation
from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.compiler.engine.ir.region import Region
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
        plan = plan_of_one(region, builder, way.jobs, config.scratchpad_bytes)
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
        """Jobs of all blocks."""
        item = self.operation
        return len(self.blocks) + 2 * item.batches * item.step_count


def _add(builder: Builder, way: _Way) -> None:
    """Add the events of an LSTM."""
    item = way.operation
    hidden = builder.buffer("hidden states", item.batches * item.units)
    cell = builder.buffer("cell states", item.batches * item.units * GATE_BYTES)
    states = {item.hidden: hidden, item.cell: cell}
    _move_states(builder, item, states, is_store=False)
    inputs: dict[int, BufferAddress] = {}

    def load(number: int) -> None:
        if number < len(way.blocks) and number not in inputs:
            inputs[number] = _load(builder, item, way.blocks[number].rows)

    hidden_sums = BufferAddress(builder.buffer("sums of hidden states", _sum_bytes(item)))
    for number, block in enumerate(way.blocks):
        load(number)
        load(number + 1)
        _add_block(builder, item, block, inputs[number], hidden_sums, hidden, cell)
    _move_states(builder, item, states, is_store=True)


def _add_block(
    builder: Builder,
    item: RecurrentOperation,
    block: _Block,
    source: BufferAddress,
    hidden_sums: BufferAddress,
    hidden: int,
    cell: int,
) -> None:
    """Add the jobs of a block, and the transfer of its outputs."""
    rows, pitch = block.rows, _sum_bytes(item)
    name = f"rows {rows.start} on of"
    sums = builder.buffer(f"{name} sums of inputs", len(rows) * pitch)
    output = _place(builder, f"{name} {item.output}", rows, item.units)
    builder.add(
        Compute(
            operation=item.input_product,
            inputs=(source,),
            input_pitch=item.window.channels,
            first_input_row=rows.start,
            input_rows=len(rows),
            output=BufferAddress(sums),
            output_pitch=pitch,
            first_output_row=rows.start,
            output_rows=len(rows),
            output_row_bytes=pitch,
        )
    )
    for number, batch in enumerate(block.batches):
        state = BufferAddress(hidden, batch * item.units)
        builder.add(
            Compute(
                operation=item.hidden_product,
                inputs=(state,),
                input_pitch=item.units,
                first_input_row=0,
                input_rows=1,
                output=hidden_sums,
                output_pitch=pitch,
                first_output_row=0,
                output_rows=1,
                output_row_bytes=pitch,
            )
        )
        builder.add(
            PlannedRecurrence(
                operation=item,
                input_sums=BufferAddress(sums, number * pitch),
                hidden_sums=hidden_sums,
                hidden=state,
                cell=BufferAddress(cell, batch * item.units * GATE_BYTES),
                output=BufferAddress(output.buffer, output.offset + number * item.units),
            )
        )
    builder.add(
        Transfer(
            tensor=item.output,
            tensor_offset=rows.start * item.units,
            bytes=len(rows) * item.units,
            address=output,
            is_store=True,
        )
    )


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
    builder: Builder, item: RecurrentOperation, states: dict[int, int], *, is_store: bool
) -> None:
    """Add the transfers of the states."""
    for tensor, buffer in states.items():
        builder.add(
            Transfer(
                tensor=tensor,
                tensor_offset=0,
                bytes=item.input_image(tensor).bytes,
                address=BufferAddress(buffer),
                is_store=is_store,
            )
        )


def _sum_bytes(item: RecurrentOperation) -> int:
    """Return the bytes of what is added to the gates of a row."""
    return 2 * item.lower_step
