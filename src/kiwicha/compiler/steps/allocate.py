"""From calls to a `MemoryPlan`: every tensor and scratch buffer gets its place in the arena.

Two buffers share bytes only if no step needs both.
"""

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.memory.placement import Buffer, Slice, lower_bound, place, top_of
from kiwicha.compiler.memory.plan import MemoryPlan, Placement
from kiwicha.compiler.steps.calls import ListCall, PlannedStep
from kiwicha.contract.cfu import ALIGNMENT_BYTES, DRAM_BASE, DRAM_BYTES, IMAGE_ADDRESS
from kiwicha.errors import CapacityError
from kiwicha.kernels.registry import KERNELS

__all__ = ["allocate"]

MAX_ARENA_BYTES = DRAM_BYTES - (IMAGE_ADDRESS - DRAM_BASE)


def allocate(network: Network, calls: Sequence[PlannedStep]) -> MemoryPlan:
    """Return the memory plan of a model.

    Raises
    ------
    CapacityError
        If the arena would be larger than the memory behind it.
    """
    lifetimes = _lifetimes(network, calls)
    owners = _share_in_place(network, calls, lifetimes)
    places = {tensor: _place(network, owners, tensor) for tensor in lifetimes}
    groups: dict[int, list[int]] = {}
    for tensor, (owner, _) in places.items():
        groups.setdefault(owner, []).append(tensor)
    keys: list[tuple[str, int]] = []
    buffers: list[Buffer] = []
    for owner, members in groups.items():
        keys.append(("tensor", owner))
        spans = [
            Slice(places[tensor][1], network.tensors[tensor].stored_bytes, *lifetimes[tensor])
            for tensor in members
        ]
        buffers.append(
            Buffer(
                " = ".join(network.tensors[member].name for member in members),
                network.tensors[owner].stored_bytes,
                min(span.first for span in spans),
                max(span.last for span in spans),
                _slices(spans),
            )
        )
    for step, item in enumerate(calls):
        if item.scratch_bytes:
            keys.append(("scratch", step))
            buffers.append(Buffer(f"scratch of step {step}", item.scratch_bytes, step, step))
    bound = lower_bound(buffers)
    if bound > MAX_ARENA_BYTES:
        raise CapacityError(
            f"the model's tensors must fit {MAX_ARENA_BYTES:,} bytes of memory, not {bound:,} "
            f"({_busiest(network, calls, buffers)} has most at once); make its inputs smaller"
        )
    offsets = place(buffers)
    arena_bytes = top_of(buffers, offsets)
    if arena_bytes > MAX_ARENA_BYTES:
        raise CapacityError(
            f"the arena must fit {MAX_ARENA_BYTES:,} bytes of memory, not {arena_bytes:,}; make "
            "the model's inputs smaller"
        )
    by_key = dict(zip(keys, offsets, strict=True))
    plan = MemoryPlan(
        arena_bytes,
        bound,
        tuple(map(Placement, buffers, offsets)),
        {tensor: by_key["tensor", owner] + first for tensor, (owner, first) in places.items()},
        {step: offset for (kind, step), offset in by_key.items() if kind == "scratch"},
    )
    plan.verify()
    return plan


def _slices(spans: Sequence[Slice]) -> tuple[Slice, ...]:
    """Return which bytes of a buffer are needed when: what no tensor left needs is free for others.

    Bytes of several tensors keep their contents from the first step of the first one to the last
    of the last.
    """
    edges = {span.offset // ALIGNMENT_BYTES for span in spans}
    edges |= {-(-span.end // ALIGNMENT_BYTES) for span in spans}
    slices: list[Slice] = []
    for start, stop in itertools.pairwise(sorted(edges)):
        first_byte, last_byte = start * ALIGNMENT_BYTES, stop * ALIGNMENT_BYTES
        here = [span for span in spans if span.offset < last_byte and first_byte < span.end]
        if not here:
            continue
        first, last = min(span.first for span in here), max(span.last for span in here)
        before = slices[-1] if slices else None
        if before and (before.first, before.last, before.end) == (first, last, first_byte):
            slices[-1] = dataclasses.replace(before, bytes=last_byte - before.offset)
        else:
            slices.append(Slice(first_byte, last_byte - first_byte, first, last))
    return tuple(slices) if len(slices) > 1 else ()


def _busiest(network: Network, calls: Sequence[PlannedStep], buffers: Sequence[Buffer]) -> str:
    """Return the operator beside which most memory is needed."""

    def needed(step: int) -> int:
        needs = (need for buffer in buffers for need in buffer.needs)
        return sum(need.bytes for need in needs if need.first <= step <= need.last)

    layer = network.layers[calls[max(range(len(calls)), key=needed)].layer]
    return f"operator {layer.operator} {layer.name}"


def _lifetimes(network: Network, calls: Sequence[PlannedStep]) -> dict[int, tuple[int, int]]:
    """Return first and last step of every tensor that is stored in the arena."""
    lifetimes: dict[int, tuple[int, int]] = {}

    def use(tensor: int, step: int) -> None:
        if not network.tensors[tensor].is_constant:
            first, last = lifetimes.get(tensor, (step, step))
            lifetimes[tensor] = (min(first, step), max(last, step))

    for tensor in network.graph.inputs:
        use(tensor, -1)
    for step, item in enumerate(calls):
        for tensor in item.tensors.values():
            use(tensor, step)
            # The engine touches its tensors until the last call beside it has run.
            use(tensor, step + _overlapped(item))
    for tensor in network.outputs:
        use(tensor, len(calls))
    return lifetimes


def _overlapped(call: PlannedStep) -> int:
    """Return how many calls behind this one run beside it."""
    return call.overlapped_steps if isinstance(call, ListCall) else 0


def _share_in_place(
    network: Network, calls: Sequence[PlannedStep], lifetimes: Mapping[int, tuple[int, int]]
) -> dict[int, int]:
    """Return the tensors that take over the memory of an element-wise operator's input."""
    owners: dict[int, int] = {}
    busy: dict[int, set[int]] = {}
    for step, item in enumerate(calls):
        for beside in range(_overlapped(item)):
            # The engine may still read what it shares with a call beside it.
            busy.setdefault(step + 1 + beside, set()).update(item.tensors.values())
        if not KERNELS[item.kernel].is_in_place:
            continue
        output = network.tensors[item.tensors["output"]]
        inputs = [network.tensors[t] for name, t in item.tensors.items() if name != "output"]
        for source in inputs:
            if (
                not {source.index, output.index} & network.shared
                and source.index not in busy.get(step, ())
                and not source.is_constant
                and source.stored_bytes == output.stored_bytes
                and lifetimes[source.index][1] == step
                and lifetimes[output.index][0] == step
            ):
                owners[output.index] = source.index
                break
    return owners


def _place(network: Network, owners: Mapping[int, int], tensor: int) -> tuple[int, int]:
    """Return the tensor in whose memory a tensor lies, and its first byte there."""
    while tensor in owners:
        tensor = owners[tensor]
    return network.parts.get(tensor, (tensor, 0))
