"""Orders of calls with those of the CPU moved beside lists, of random calls and one by one."""

import dataclasses
import random
from types import SimpleNamespace
from typing import Any

import pytest

from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.steps import overlap as module
from kiwicha.compiler.steps.calls import ListCall
from kiwicha.compiler.steps.overlap import overlap

TENSORS = 9
CONSTANT, INSIDE, WHOLE = 8, 7, 6
"""A constant; a tensor that lies inside another one."""


@dataclasses.dataclass(frozen=True, eq=False)
class Uses:
    """What a call reads and writes."""

    reads: frozenset[int]
    writes: frozenset[int]


@dataclasses.dataclass(frozen=True, eq=False)
class List(ListCall):
    """A call of a list that reads and writes what its part says."""

    part: Any = None
    config: Any = None

    @property
    def reads(self) -> frozenset[int]:
        """Tensors that it reads."""
        return self.part.reads

    @property
    def writes(self) -> frozenset[int]:
        """Tensors that it writes."""
        return self.part.writes


def network() -> Network:
    tensors = tuple(SimpleNamespace(is_constant=index == CONSTANT) for index in range(TENSORS))
    return SimpleNamespace(parts={INSIDE: (WHOLE, 1)}, tensors=tensors)


def call(reads: str, writes: str) -> Any:
    """Give a call of the CPU, or with an E in front one of the engine; tensors are digits."""
    is_list = reads.startswith("E")
    uses = Uses(frozenset(map(int, reads.removeprefix("E"))), frozenset(map(int, writes)))
    return List(uses) if is_list else uses


def calls(text: str) -> list[Any]:
    """Give calls such as ``E0>1 1>2``."""
    return [call(*item.split(">")) for item in text.split()]


def written(found: Any) -> str:
    """Give the text of calls, a list with the number of those beside it."""
    texts = []
    for item in found:
        reads, writes = ("".join(map(str, sorted(n))) for n in (item.reads, item.writes))
        is_list = isinstance(item, ListCall)
        texts.append(f"{'E' if is_list else ''}{reads}>{writes}")
        texts += [f"+{item.overlapped_steps}"] if is_list and item.overlapped_steps else []
    return " ".join(texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E0>1 1>2", "E0>1 1>2"),
        ("E0>1 0>2", "E0>1 +1 0>2"),
        ("0>2 E0>1", "E0>1 +1 0>2"),
        # Even the first of all calls.
        ("0>2 0>3 E3>1", "0>3 E3>1 +1 0>2"),
        # What another one needs that stays in front stays, too; behind a list likewise.
        ("0>2 2>3 E3>1", "0>2 2>3 E3>1"),
        ("0>2 3>2 E2>1", "0>2 3>2 E2>1"),
        ("E0>1 1>2 2>3 0>4", "E0>1 +1 0>4 1>2 2>3"),
        ("E0>1 1>2 3>1 0>4", "E0>1 +1 0>4 1>2 3>1"),
        # It must not write what the list reads, nor what a call that stays behind reads.
        ("E0>1 3>0", "E0>1 3>0"),
        ("E0>1 15>2 3>5 0>4", "E0>1 +1 0>4 15>2 3>5"),
        ("3>0 E0>1", "3>0 E0>1"),
        ("3>1 E0>1", "3>1 E0>1"),
        # Calls stay in their order, and beside the list that they were beside.
        ("0>2 0>3 E0>1 0>4 0>5", "E0>1 +4 0>2 0>3 0>4 0>5"),
        ("0>2 E0>1 E1>3", "E0>1 +1 0>2 E1>3"),
        ("E0>1 1>2 E1>3", "E0>1 E1>3 +1 1>2"),
        # Constants are nobody's; what lies inside a tensor is that tensor.
        ("E08>1 8>2", "E08>1 +1 8>2"),
        ("E0>7 6>2", "E0>7 6>2"),
        ("E0>6 7>2", "E0>6 7>2"),
        ("6>2 E0>7", "6>2 E0>7"),
    ],
)
def test_calls_move_beside_lists(text: str, expected: str) -> None:
    assert written(overlap(network(), calls(text))) == expected


def results(found: Any) -> dict[int, Any]:
    """Execute calls one by one: a tensor is what it was made of."""
    memory: dict[int, Any] = {index: index for index in range(TENSORS)}
    for item in found:
        uses = item.part if isinstance(item, ListCall) else item
        made = (id(uses), *(memory[WHOLE if i == INSIDE else i] for i in sorted(uses.reads)))
        memory |= {WHOLE if index == INSIDE else index: hash(made) for index in uses.writes}
    return memory


@pytest.mark.parametrize("seed", range(60))
def test_random_calls_give_the_same(seed: int) -> None:
    """In order, and with those beside a list in front of it."""
    rng = random.Random(seed)
    some = "0123456" + "78"
    given = [
        call(
            ("E" if rng.random() < 0.3 else "") + "".join(rng.sample(some, rng.randint(1, 2))),
            "".join(rng.sample(some[:8], 1)),
        )
        for _ in range(12)
    ]
    found = overlap(network(), given)
    expected = results(given)
    assert results(found) == expected
    early = list(found)
    for number, item in enumerate(found):
        if isinstance(item, ListCall):
            beside = item.overlapped_steps
            assert not any(isinstance(k, ListCall) for k in found[number + 1 :][:beside])
            early[number : number + beside + 1] = [*found[number + 1 :][:beside], item]
    assert results(early) == expected


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found[:-1],
        lambda found: [*found, found[-1]],
        lambda found: [found[1], found[0], *found[2:]],
        lambda found: [*found[:2], found[3], found[2]],
    ],
)
def test_wrong_orders_are_refused(change: Any) -> None:
    given = calls("0>1 1>2 E2>3 3>4")
    module._verify(network(), given, given)
    with pytest.raises(AssertionError):
        module._verify(network(), given, change(given))


def test_orders_are_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    """A division that lets every call run beside the list moves one that the list needs."""
    monkeypatch.setattr(module, "_divide", lambda network, items, uses, **_: ([], list(items)))
    with pytest.raises(AssertionError):
        overlap(network(), calls("0>1 E1>2"))
