"""Steps that run while the engine works: what they touch must not be the engine's."""

from collections.abc import Sequence

from kiwicha.contract.engine import LINE_BYTES, ComputedListCall, EngineCall
from kiwicha.contract.layout import Ref, Struct
from kiwicha.errors import ProgramError
from kiwicha.program.engine_list import read_list
from kiwicha.program.parts import Step
from kiwicha.sim.reference.memory import Memory

__all__ = ["check_overlapped"]

_WRITTEN = ("output", "scratch")
Range = tuple[int, int]


def check_overlapped(memory: Memory, steps: Sequence[Step], number: int) -> None:
    """Check that an ENGINE step and those it overlaps give the same in any order.

    Raises
    ------
    ProgramError
        If there are fewer steps, one of them is an ENGINE step, or one writes what the list
        touches or reads what it writes.
    """
    call = steps[number].params
    assert isinstance(call, EngineCall)
    beside = steps[number + 1 : number + 1 + call.overlapped_steps]
    if len(beside) < call.overlapped_steps:
        raise ProgramError(
            f"{call.overlapped_steps} overlapped steps must exist, not {len(beside)}"
        )
    if not beside:
        return
    loads, stores = _arena_ranges(memory, call)
    for offset, step in enumerate(beside, number + 1):
        where = f"overlapped step {offset} ({step.kernel.name})"
        if isinstance(step.params, EngineCall):
            raise ProgramError(f"{where} must be one of the CPU")
        for name, ref in _arena_refs(step.params).items():
            others = (*loads, *stores) if name in _WRITTEN else stores
            if any(first < ref.offset + ref.bytes and ref.offset < end for first, end in others):
                raise ProgramError(f"{where}: {name} must not be what the engine uses ({ref})")


def _arena_refs(params: Struct) -> dict[str, Ref]:
    refs = {name: getattr(params, name) for name, kind, _ in params.layout() if kind.base == "ref"}
    return {name: ref for name, ref in refs.items() if ref.bytes and not ref.is_constant}


def _arena_ranges(memory: Memory, call: EngineCall) -> tuple[list[Range], list[Range]]:
    """Return what a list loads from the arena, and what it stores there."""
    image = memory.load(call.image, "u1", (call.image.bytes,)).tobytes()
    loads, stores = [], []
    if isinstance(call, ComputedListCall):
        loads.append((call.computed.offset, call.computed.offset + call.computed.bytes))
    for transfer in read_list(call, image).transfers:
        start, size = transfer.range_offset, transfer.moved_bytes
        if transfer.is_store:
            stores.append((start, start + size))
        elif not transfer.is_in_program:
            # A load reads whole lines.
            first, end = start // LINE_BYTES, -(-(start + size) // LINE_BYTES)
            loads.append((first * LINE_BYTES, end * LINE_BYTES))
    return loads, stores
