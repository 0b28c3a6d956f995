"""Which tensor lies where, and when: scratchpad and arena of a simulated inference."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from kiwicha.compiler import Compilation
from kiwicha.compiler.engine.ir.engine_list import EngineList, ListPart
from kiwicha.compiler.engine.ir.plan import Event, PlannedMove, Transfer
from kiwicha.compiler.steps.calls import ListCall
from kiwicha.compiler.tflite.graph import NO_TENSOR
from kiwicha.sim.profile.timestamps import ListTimestamps, StepTimestamps
from kiwicha.sim.verilator.activity import Span

__all__ = ["memory_map"]


def memory_map(compilation: Compilation, steps: Sequence[StepTimestamps]) -> dict[str, Any]:
    """Return ``arena`` and, with an engine, ``scratchpad``: size and tensors in JSON's terms.

    Each tensor has ``name``, ``offset``, ``bytes``, and its first and last cycle counted from the
    beginning of the inference, ``start`` and ``end``.

    Parameters
    ----------
    compilation : Compilation
        What every pass gave.
    steps : sequence of StepTimestamps
        Of one inference.
    """
    spans = [step.span for step in steps]
    origin, end = min(span[0] for span in spans), max(span[1] for span in spans)

    def cycles(first: int, last: int) -> Span:
        start = spans[first][0] if first >= 0 else origin
        stop = spans[last][1] if last < len(spans) else end
        return start - origin, stop - origin

    arena = []
    for item in compilation.memory.placements:
        buffer = item.buffer
        span = cycles(buffer.first, buffer.last)
        arena.append(_entry(buffer.name, item.offset, buffer.bytes, span))
    found = {"arena": {"bytes": compilation.memory.arena_bytes, "tensors": arena}}
    if compilation.config.scratchpad_bytes:
        tensors = []
        lists: dict[EngineList, list[ListTimestamps]] = {}
        for call, step in zip(compilation.calls, steps, strict=True):
            if isinstance(call, ListCall) and step.engine is not None:
                lists.setdefault(call.part.whole, []).append(_without_table(call.part, step.engine))
        for engine_list, parts in lists.items():
            tensors += _scratchpad(compilation, engine_list, _joined(parts), origin)
        size = compilation.config.scratchpad_bytes
        found["scratchpad"] = {"bytes": size, "tensors": tensors}
    return found


def _entry(name: str, offset: int, size: int, span: Span) -> dict[str, Any]:
    return {"name": name, "offset": offset, "bytes": size, "start": span[0], "end": span[1]}


def _without_table(part: ListPart, engine: ListTimestamps) -> ListTimestamps:
    """Return the times of a list without the table that it loads once more."""
    more = len(part.transfers) - len(part.transfer_numbers)
    return dataclasses.replace(engine, transfer_ends=engine.transfer_ends[more:])


def _joined(parts: Sequence[ListTimestamps]) -> ListTimestamps:
    """Return the times of lists that follow each other."""
    return ListTimestamps(
        (parts[0].span[0], parts[-1].span[1]),
        tuple(end for part in parts for end in part.job_ends),
        tuple(end for part in parts for end in part.transfer_ends),
    )


def _scratchpad(
    compilation: Compilation, engine_list: EngineList, engine: ListTimestamps, origin: int
) -> list[dict[str, Any]]:
    spans, plan = _event_spans(engine_list, engine), engine_list.plan
    tensors = compilation.network.graph.tensors
    stored = {_buffer(event): _tensor(event) for event in reversed(plan.events)}
    entries = []
    for number, (buffer, offset) in enumerate(zip(plan.buffers, plan.offsets, strict=True)):
        span = spans[buffer.first][0] - origin, spans[buffer.last][1] - origin
        tensor = stored.get(number, NO_TENSOR)
        # Some are known to the operations of a layer only.
        name = tensors[tensor].name if tensor >= 0 else buffer.name
        entries.append(_entry(name, offset, buffer.bytes, span))
    return entries


def _buffer(event: Event) -> int:
    """Return the buffer that an event writes, or stores."""
    if isinstance(event, PlannedMove):
        return event.target
    return event.address.buffer if isinstance(event, Transfer) else event.output.buffer


def _tensor(event: Event) -> int:
    """Return the tensor in that buffer."""
    return event.tensor if isinstance(event, Transfer) else event.operation.output


def _event_spans(engine_list: EngineList, engine: ListTimestamps) -> list[Span]:
    """Return when each event ran: jobs and transfers are two threads that wait for each other."""
    waits = {
        False: [job.wait_transfers for job in engine_list.jobs],
        True: [planned.transfer.wait_jobs for planned in engine_list.transfers],
    }
    names = {False: range(len(engine_list.jobs)), True: engine_list.event_transfers}
    ends = {False: engine.job_ends, True: engine.transfer_ends}
    others = {False: engine.transfer_ends, True: engine.job_ends}
    numbers = dict.fromkeys(waits, 0)
    spans = []
    for event in engine_list.plan.events:
        kind = isinstance(event, Transfer)
        number = names[kind][numbers[kind]]
        numbers[kind] += 1
        wanted = waits[kind][number]
        start = max(
            ends[kind][number - 1] if number else engine.span[0],
            others[kind][wanted - 1] if wanted else engine.span[0],
        )
        spans.append((start, ends[kind][number]))
    return spans
