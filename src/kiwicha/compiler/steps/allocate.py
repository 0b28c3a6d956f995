"""From calls to a `MemoryPlan`: every tensor and scratch buffer gets its place in the arena.

Two buffers share bytes only if no step needs both.

With a double buffer an inference leaves alone what the inferences beside it need: the inputs of the
next one, which are being written, and the outputs of the last one, which are being read.

What is kept from one inference to the next has a place of its own, which does not move.
"""

import dataclasses
import itertools
from collections.abc import Iterable, Mapping, Sequence, Set

from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.memory.placement import Buffer, Slice, lower_bound, place, top_of
from kiwicha.compiler.memory.plan import MemoryPlan, Placement
from kiwicha.compiler.steps.calls import ListCall, PlannedStep
from kiwicha.contract.cfu import (
    ALIGNMENT_BYTES,
    CACHE_LINE_BYTES,
    DRAM_BASE,
    DRAM_BYTES,
    IMAGE_ADDRESS,
)
from kiwicha.errors import CapacityError
from kiwicha.kernels.registry import KERNELS

__all__ = ["allocate"]

MAX_ARENA_BYTES = DRAM_BYTES - (IMAGE_ADDRESS - DRAM_BASE)

_Key = tuple[str, int]
_BESIDE: _Key = ("doubles", 0)


def allocate(
    network: Network, calls: Sequence[PlannedStep], *, double_buffer: bool = False
) -> MemoryPlan:
    """Return the memory plan of a model.

    Parameters
    ----------
    network : Network
        The model.
    calls : sequence of KernelCall or ListCall
        Its steps.
    double_buffer : bool
        Have two places for inputs and outputs.

    Raises
    ------
    CapacityError
        If the arena would be larger than the memory behind it.
    """
    lifetimes = _lifetimes(network, calls)
    edges = {*network.graph.inputs, *network.outputs} & lifetimes.keys()
    lasting = edges if double_buffer else set()
    kept = {tensor for state in network.graph.states for tensor in (state.before, state.after)}
    lifetimes |= dict.fromkeys(lasting | kept, _all_steps(calls))
    owners = _share_in_place(network, calls, lifetimes)
    places = {tensor: _place(network, owners, tensor) for tensor in lifetimes}
    buffers = _buffers(network, calls, lifetimes, places, lasting)
    doubled = list(dict.fromkeys(("tensor", places[tensor][0]) for tensor in sorted(lasting)))
    room = sum(buffers[key].aligned_bytes for key in doubled)
    shift_bytes = -(-room // CACHE_LINE_BYTES) * CACHE_LINE_BYTES
    # With states the places of inputs and outputs are beside what inferences work with.
    inner_bytes = 2 * shift_bytes if kept else 0
    if doubled:
        name = "places of inputs and outputs" if kept else "doubles of these"
        buffers[_BESIDE] = Buffer(name, inner_bytes or shift_bytes, *_all_steps(calls))
    bound = lower_bound(buffers.values())
    if bound > MAX_ARENA_BYTES:
        raise CapacityError(
            f"the model's tensors must fit {MAX_ARENA_BYTES:,} bytes of memory, not {bound:,} "
            f"({_busiest(network, calls, buffers.values())} has most at once); make its inputs "
            "smaller"
        )
    offsets = _offsets(buffers, doubled, shift_bytes, inner_bytes)
    arena_bytes = top_of(list(buffers.values()), [offsets[key] for key in buffers])
    moved_bytes = 0 if kept else shift_bytes
    if arena_bytes + moved_bytes > MAX_ARENA_BYTES:
        raise CapacityError(
            f"the arena must fit {MAX_ARENA_BYTES:,} bytes of memory, not "
            f"{arena_bytes + moved_bytes:,}; make the model's inputs smaller"
        )
    plan = MemoryPlan(
        arena_bytes,
        bound,
        tuple(Placement(buffer, offsets[key]) for key, buffer in buffers.items()),
        {tensor: offsets["tensor", owner] + first for tensor, (owner, first) in places.items()},
        {step: offset for (kind, step), offset in offsets.items() if kind == "scratch"},
        shift_bytes,
    )
    plan.verify()
    return plan


def _all_steps(calls: Sequence[PlannedStep]) -> tuple[int, int]:
    """Return the first and last moment of an inference."""
    return -1, len(calls)


def _buffers(
    network: Network,
    calls: Sequence[PlannedStep],
    lifetimes: Mapping[int, tuple[int, int]],
    places: Mapping[int, tuple[int, int]],
    lasting: Set[int],
) -> dict[_Key, Buffer]:
    """Return what needs memory: tensors by the one in whose memory they lie, scratch by step."""
    groups: dict[int, list[int]] = {}
    for tensor, (owner, _) in places.items():
        groups.setdefault(owner, []).append(tensor)
    buffers: dict[_Key, Buffer] = {}
    images = _images(calls)
    for owner, members in groups.items():
        if owner in images:
            first, last = lifetimes[owner]
            name = "list with computed weights"
            buffers["tensor", owner] = Buffer(name, images[owner], first, last)
            continue
        # What shares its memory with a tensor that lasts, lasts as well.
        lasts = not lasting.isdisjoint(members)
        spans = [
            Slice(
                places[tensor][1],
                network.tensors[tensor].stored_bytes,
                *(_all_steps(calls) if lasts else lifetimes[tensor]),
            )
            for tensor in members
        ]
        buffers["tensor", owner] = Buffer(
            " = ".join(network.tensors[member].name for member in members),
            network.tensors[owner].stored_bytes,
            min(span.first for span in spans),
            max(span.last for span in spans),
            _slices(spans),
        )
    for step, item in enumerate(calls):
        if item.scratch_bytes:
            name = f"scratch of step {step}"
            buffers["scratch", step] = Buffer(name, item.scratch_bytes, step, step)
    return buffers


def _offsets(
    buffers: Mapping[_Key, Buffer], doubled: Sequence[_Key], shift_bytes: int, inner_bytes: int
) -> dict[_Key, int]:
    """Return the offset of each buffer.

    Those with doubles come first, the doubles, for every second inference, `shift_bytes` behind
    them, and behind both all others. With states, both places of inputs and outputs come first,
    then, `inner_bytes` behind the first one, those with doubles, and behind them all others.
    """
    offsets = {_BESIDE: 0 if inner_bytes else shift_bytes} if doubled else {}
    end = inner_bytes
    for key in doubled:
        offsets[key] = end
        end += buffers[key].aligned_bytes
    others = {key: buffer for key, buffer in buffers.items() if key not in offsets}
    for key, offset in zip(others, place(list(others.values())), strict=True):
        offsets[key] = (3 if inner_bytes else 2) * shift_bytes + offset
    return offsets


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


def _busiest(network: Network, calls: Sequence[PlannedStep], buffers: Iterable[Buffer]) -> str:
    """Return the operator beside which most memory is needed."""
    needs = [need for buffer in buffers for need in buffer.needs]

    def needed(step: int) -> int:
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
    for step, item in enumerate(calls):
        for image in item.images if isinstance(item, ListCall) else ():
            first, _ = lifetimes.get(image, (step, step))
            lifetimes[image] = first, step + _overlapped(item)
    for tensor in network.outputs:
        use(tensor, len(calls))
    return lifetimes


def _images(calls: Iterable[PlannedStep]) -> dict[int, int]:
    """Return the bytes of each list in the arena, which is no tensor of the network."""
    lists = (call for call in calls if isinstance(call, ListCall))
    return {tensor: size for call in lists for tensor, size in call.images.items()}


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
