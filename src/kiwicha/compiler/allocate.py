"""From `Tile`s to a `MemoryPlan`: every tensor and scratch buffer gets its place in the arena.

Two buffers share bytes only if no step needs both. The plan is found by placing buffers one by one
into the tightest gap that is free, in several orders, and stops at the lower bound.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kiwicha.compiler.layers import Network
from kiwicha.compiler.tile import Tile
from kiwicha.errors import CapacityError
from kiwicha.isa import ALIGNMENT_BYTES, DRAM_BASE, DRAM_BYTES, IMAGE_ADDRESS, Kernel

__all__ = ["Buffer", "MemoryPlan", "Placement", "allocate", "lower_bound", "place"]

MAX_ARENA_BYTES = DRAM_BYTES - (IMAGE_ADDRESS - DRAM_BASE)
ATTEMPTS = 200
"""Orders that are tried after the first ones, each exchanging two buffers of the best so far."""
MAX_COMPARISONS = 4_000_000
"""Pairs of buffers compared in these attempts; a model with more buffers gets fewer attempts."""

_IN_PLACE_KERNELS = {Kernel.ADD, Kernel.SUB, Kernel.MUL, Kernel.SIMD_ADD}
"""Kernels that read an element of each input before they write it, and never read it again."""


@dataclass(frozen=True)
class Buffer:
    """A need for memory.

    Parameters
    ----------
    name : str
        For dumps.
    bytes : int
        Size.
    first, last : int
        First and last step that needs it; -1 is before the first step.
    """

    name: str
    bytes: int
    first: int
    last: int

    @property
    def aligned_bytes(self) -> int:
        """Size up to the next aligned offset."""
        return -(-self.bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    def overlaps(self, other: "Buffer") -> bool:
        """Whether some step needs both."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Placement:
    """A buffer and its offset in the arena."""

    buffer: Buffer
    offset: int


@dataclass(frozen=True)
class MemoryPlan:
    """The arena.

    Parameters
    ----------
    arena_bytes : int
        Its size.
    lower_bound_bytes : int
        What the busiest step needs: no plan can be smaller.
    placements : tuple of Placement
        All buffers.
    tensors : mapping of int to int
        Offset of each tensor that is stored in the arena.
    scratch : mapping of int to int
        Offset of the scratch buffer of each tile that has one.
    """

    arena_bytes: int
    lower_bound_bytes: int
    placements: tuple[Placement, ...]
    tensors: Mapping[int, int]
    scratch: Mapping[int, int]

    def verify(self) -> None:
        """Assert that offsets are aligned, inside the arena, and that no two buffers collide."""
        ordered = sorted(self.placements, key=lambda item: item.offset)
        for number, item in enumerate(ordered):
            assert item.offset >= 0
            assert item.offset % ALIGNMENT_BYTES == 0
            assert item.offset + item.buffer.bytes <= self.arena_bytes
            for other in ordered[number + 1 :]:
                if other.offset >= item.offset + item.buffer.bytes:
                    break
                assert not item.buffer.overlaps(other.buffer), (item, other)


def allocate(network: Network, tiles: Sequence[Tile]) -> MemoryPlan:
    """Return the memory plan of a model.

    Raises
    ------
    CapacityError
        If the arena would be larger than the memory behind it.
    """
    lifetimes = _lifetimes(network, tiles)
    owners = _share_in_place(network, tiles, lifetimes)
    groups: dict[int, list[int]] = {}
    for tensor in lifetimes:
        groups.setdefault(_owner(owners, tensor), []).append(tensor)
    keys: list[tuple[str, int]] = []
    buffers: list[Buffer] = []
    for owner, members in groups.items():
        keys.append(("tensor", owner))
        buffers.append(
            Buffer(
                " = ".join(network.graph.tensors[member].name for member in members),
                network.graph.tensors[owner].elements,
                min(lifetimes[member][0] for member in members),
                max(lifetimes[member][1] for member in members),
            )
        )
    for step, item in enumerate(tiles):
        if item.scratch_bytes:
            keys.append(("scratch", step))
            buffers.append(Buffer(f"scratch of step {step}", item.scratch_bytes, step, step))
    bound = lower_bound(buffers)
    if bound > MAX_ARENA_BYTES:
        raise CapacityError(
            f"the model's tensors must fit {MAX_ARENA_BYTES} bytes of memory, not {bound}"
        )
    offsets = place(buffers)
    arena_bytes = _top(buffers, offsets)
    if arena_bytes > MAX_ARENA_BYTES:
        raise CapacityError(
            f"the arena must fit {MAX_ARENA_BYTES} bytes of memory, not {arena_bytes}"
        )
    by_key = dict(zip(keys, offsets, strict=True))
    plan = MemoryPlan(
        arena_bytes,
        bound,
        tuple(map(Placement, buffers, offsets)),
        {tensor: by_key["tensor", _owner(owners, tensor)] for tensor in lifetimes},
        {step: offset for (kind, step), offset in by_key.items() if kind == "scratch"},
    )
    plan.verify()
    return plan


def _lifetimes(network: Network, tiles: Sequence[Tile]) -> dict[int, tuple[int, int]]:
    """Return first and last step of every tensor that is stored in the arena."""
    lifetimes: dict[int, tuple[int, int]] = {}

    def use(tensor: int, step: int) -> None:
        storage = network.storage(tensor)
        if not storage.is_constant:
            first, last = lifetimes.get(storage.index, (step, step))
            lifetimes[storage.index] = (min(first, step), max(last, step))

    for tensor in network.graph.inputs:
        use(tensor, -1)
    for step, item in enumerate(tiles):
        for tensor in item.tensors.values():
            use(tensor, step)
    for tensor in network.graph.outputs:
        use(tensor, len(tiles))
    return lifetimes


def _share_in_place(
    network: Network, tiles: Sequence[Tile], lifetimes: Mapping[int, tuple[int, int]]
) -> dict[int, int]:
    """Return the tensors that take over the memory of an element-wise operator's input."""
    owners: dict[int, int] = {}
    for step, item in enumerate(tiles):
        if item.kernel not in _IN_PLACE_KERNELS:
            continue
        output = network.storage(item.tensors["output"])
        inputs = [network.storage(item.tensors[name]) for name in ("input_1", "input_2")]
        for source in inputs:
            if (
                not source.is_constant
                and source.elements == output.elements
                and lifetimes[source.index][1] == step
                and lifetimes[output.index][0] == step
            ):
                owners[output.index] = source.index
                break
    return owners


def _owner(owners: Mapping[int, int], tensor: int) -> int:
    while tensor in owners:
        tensor = owners[tensor]
    return tensor


def lower_bound(buffers: Iterable[Buffer]) -> int:
    """Return the largest sum of bytes that one step needs."""
    changes: dict[int, int] = {}
    for buffer in buffers:
        changes[buffer.first] = changes.get(buffer.first, 0) + buffer.aligned_bytes
        changes[buffer.last + 1] = changes.get(buffer.last + 1, 0) - buffer.aligned_bytes
    live = bound = 0
    for step in sorted(changes):
        live += changes[step]
        bound = max(bound, live)
    return bound


def place(buffers: Sequence[Buffer]) -> list[int]:
    """Return an offset for each buffer, multiples of `ALIGNMENT_BYTES`, collision-free."""
    bound = lower_bound(buffers)
    numbers = range(len(buffers))
    orders = [
        sorted(numbers, key=lambda n: (-buffers[n].aligned_bytes, buffers[n].first)),
        sorted(
            numbers,
            key=lambda n: -buffers[n].aligned_bytes * (buffers[n].last - buffers[n].first + 1),
        ),
        sorted(numbers, key=lambda n: (buffers[n].first, -buffers[n].aligned_bytes)),
        sorted(numbers, key=lambda n: (-buffers[n].last, -buffers[n].aligned_bytes)),
    ]
    plans = [_place_in_order(buffers, order) for order in orders]
    best, offsets = min(zip(orders, plans, strict=True), key=lambda plan: _top(buffers, plan[1]))
    # Seeded, and only by random(), whose numbers are the same in every version of Python.
    generator = random.Random(0)

    def pick(candidates: Sequence[int]) -> int:
        return candidates[int(generator.random() * len(candidates))]

    for _ in range(min(ATTEMPTS, MAX_COMPARISONS // max(len(buffers), 1) ** 2)):
        top = _top(buffers, offsets)
        if top <= bound:
            break
        highest = max(best, key=lambda n: offsets[n] + buffers[n].aligned_bytes)
        rivals = [n for n in best if n != highest and buffers[n].overlaps(buffers[highest])]
        first, second = pick([highest, pick(rivals)]), pick(rivals)
        exchanged = {first: second, second: first}
        order = [exchanged.get(n, n) for n in best]
        candidate = _place_in_order(buffers, order)
        if _top(buffers, candidate) <= top:
            best, offsets = order, candidate
    return offsets


def _place_in_order(buffers: Sequence[Buffer], order: Iterable[int]) -> list[int]:
    """Give each buffer the tightest gap that no placed buffer of an overlapping time takes."""
    offsets = [0] * len(buffers)
    placed: list[int] = []
    for number in order:
        buffer = buffers[number]
        taken = sorted(
            (offsets[other], offsets[other] + buffers[other].aligned_bytes)
            for other in placed
            if buffers[other].overlaps(buffer)
        )
        offsets[number] = _tightest_gap(taken, buffer.aligned_bytes)
        placed.append(number)
    return offsets


def _tightest_gap(taken: Sequence[tuple[int, int]], size: int) -> int:
    end, best, best_size = 0, -1, 0
    for start, stop in taken:
        gap = start - end
        if gap >= size and (best < 0 or gap < best_size):
            best, best_size = end, gap
        end = max(end, stop)
    return end if best < 0 else best


def _top(buffers: Sequence[Buffer], offsets: Sequence[int]) -> int:
    return max(
        (offset + buffer.aligned_bytes for buffer, offset in zip(buffers, offsets, strict=True)),
        default=0,
    )
