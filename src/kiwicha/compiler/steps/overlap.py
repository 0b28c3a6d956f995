"""Steps of the CPU that run while the engine works on a list that they have nothing to do with."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.steps.calls import ListCall, PlannedStep

__all__ = ["overlap"]


@dataclass(frozen=True)
class _Uses:
    """Tensors in the arena."""

    reads: frozenset[int]
    writes: frozenset[int]

    def depends_on(self, earlier: "_Uses") -> bool:
        """Whether the order of two calls matters."""
        return bool(
            self.reads & earlier.writes
            or self.writes & earlier.writes
            or self.writes & earlier.reads
        )

    def __or__(self, other: "_Uses") -> "_Uses":
        return _Uses(self.reads | other.reads, self.writes | other.writes)


def overlap(network: Network, calls: Sequence[PlannedStep]) -> tuple[PlannedStep, ...]:
    """Return the calls with those of the CPU moved beside independent lists of the engine.

    Of the calls directly before a list, those whose results it does not need come after its start;
    of the calls directly after it, those that need none of its results run before its end. Each
    list says how many of the calls behind it that are.

    Parameters
    ----------
    network : Network
        The model.
    calls : sequence of PlannedStep
        Calls in an order that respects what they read and write.
    """
    pending = list(calls)
    done: list[PlannedStep] = []
    fixed = 0
    while pending:
        item = pending.pop(0)
        if not isinstance(item, ListCall):
            done.append(item)
            continue
        uses = _uses(network, item)
        before = _cpu_calls(reversed(done[fixed:]))
        del done[len(done) - len(before) :]
        needed, early = _divide(network, before, uses, is_backwards=True)
        after = _cpu_calls(pending)
        late, free = _divide(network, after, uses, is_backwards=False)
        pending[: len(after)] = late
        moved = [*reversed(early), *free]
        done += [*reversed(needed), dataclasses.replace(item, overlapped_steps=len(moved)), *moved]
        # What runs beside this list stays there, even if it could run beside the next.
        fixed = len(done)
    _verify(network, calls, done)
    return tuple(done)


def _verify(network: Network, before: Sequence[PlannedStep], after: Sequence[PlannedStep]) -> None:
    """Assert that the same calls are there, and calls whose order matters have kept it."""
    places = {_identity(call): number for number, call in enumerate(before)}
    order = [places[_identity(call)] for call in after]
    assert sorted(order) == list(range(len(before)))
    uses = [_uses(network, call) for call in after]
    for second, place in enumerate(order):
        for first in range(second):
            assert order[first] < place or not uses[first].depends_on(uses[second])


def _identity(call: PlannedStep) -> int:
    return id(call.part if isinstance(call, ListCall) else call)


def _cpu_calls(items: Iterable[PlannedStep]) -> list[PlannedStep]:
    return list(takewhile(lambda item: not isinstance(item, ListCall), items))


def _divide(
    network: Network, items: Iterable[PlannedStep], uses: _Uses, *, is_backwards: bool
) -> tuple[list[PlannedStep], list[PlannedStep]]:
    """Return the calls that must keep their side of a list, and those that may run beside it."""
    bound: list[PlannedStep] = []
    free: list[PlannedStep] = []
    for item in items:
        its = _uses(network, item)
        if uses.depends_on(its) if is_backwards else its.depends_on(uses):
            bound.append(item)
            uses |= its
        else:
            free.append(item)
    return bound, free


def _uses(network: Network, item: PlannedStep) -> _Uses:
    return _Uses(_outermost(network, item.reads), _outermost(network, item.writes))


def _outermost(network: Network, tensors: Iterable[int]) -> frozenset[int]:
    # A tensor and what lies inside it count as one.
    return frozenset(
        network.parts.get(index, (index, 0))[0]
        for index in tensors
        if not network.tensors[index].is_constant
    )
