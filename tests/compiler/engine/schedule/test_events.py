"""Ordered events: in which order a cascade's stripes are loaded, computed and stored."""

import itertools

import pytest

from kiwicha.compiler.engine.ir.plan import Compute, Event
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.schedule.estimates.arithmetic import Arithmetic
from kiwicha.compiler.engine.schedule.estimates.estimate import Estimate
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_costs
from kiwicha.compiler.engine.schedule.events import OrderedEvents
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade, Choice, Room, Striping
from kiwicha.compiler.memory.placement import lower_bound
from tests.compiler.engine.build import addition, chain, depthwise, pointwise, region

ROWS = 12


def wide_pair(columns: int, channels: int) -> Region:
    """Give a depthwise convolution, tensor 0 to 1, and a pointwise one, tensor 1 to 2."""
    pixels = ROWS, columns, channels, ROWS, columns
    around = Window(*pixels, 3, 3, pad_top=1, pad_left=1)
    return chain(depthwise(0, around), pointwise(1, ROWS, columns, channels, channels))


def name(event: Event) -> str:
    if isinstance(event, Compute):
        return f"{event.operation.kind.name} {event.first_output_row}"
    return f"{'store' if event.is_store else 'load'} {event.tensor}"


def plan(run: Region, striping: Striping) -> OrderedEvents:
    return OrderedEvents(run, Choice((striping,), frozenset({0, 2})))


@pytest.mark.parametrize("is_early", [True, False])
def test_order_of_a_cascade(is_early: bool) -> None:
    run = wide_pair(8, 16)
    striping = Striping(Cascade(run, 0, 2), 4, is_early)
    early, late = (["load 0"], []) if is_early else ([], ["load 0"])
    expected = ["load 0"]
    for row in (0, 4, 8):
        is_last = row == 8
        expected += [] if is_last else early
        expected += [f"DEPTHWISE {row}"]
        expected += [] if is_last else late
        expected += [f"CONV {row}", "store 2"]
    assert striping.jobs({0, 2}) == 6
    assert [name(event) for event in plan(run, striping).events] == expected


@pytest.mark.parametrize("is_early", [True, False])
@pytest.mark.parametrize("room", Room)
@pytest.mark.parametrize("height", [1, 2, 5, 12])
def test_the_estimate_of_memory_holds(height: int, is_early: bool, room: Room) -> None:
    run = wide_pair(8, 16)
    cascade = Cascade(run, 0, 2)
    striping = Striping(cascade, height, is_early, room)
    estimate = Estimate(Arithmetic(cascade, operation_costs(run, 64)), frozenset({0, 2}))
    assert lower_bound(plan(run, striping).buffers) <= estimate.bytes(striping)


@pytest.mark.parametrize("room", Room)
def test_room_of_a_stripe_that_is_stored(room: Room) -> None:
    run = wide_pair(8, 16)
    found = plan(run, Striping(Cascade(run, 0, 2), 4, True, room))
    outputs = [buffer for buffer in found.buffers if buffer.name.startswith("stripe")]
    assert len(outputs) == 3
    for first, second in itertools.pairwise(outputs):
        # A job reads what it was given last: only the room of the first one is in question.
        assert first.overlaps(second) == (room is Room.STRIPE)


def test_wide_rows_are_loaded_late() -> None:
    """Rows of 9600 bytes: two stripes of three rows at once do not fit."""
    run = wide_pair(75, 128)
    choice = Chooser(run, 64).choose(64 * 1024)
    assert lower_bound(OrderedEvents(run, choice).buffers) <= 64 * 1024
    (striping,) = choice.stripings
    assert not striping.is_early
    cascade, costs = Cascade(run, 0, 2), operation_costs(run, 64)
    early = Striping(cascade, 1)
    assert Estimate(Arithmetic(cascade, costs), frozenset({0, 2})).bytes(early) > 64 * 1024


def test_a_last_reader_gets_its_stripe_before_its_own_first_job() -> None:
    run = wide_pair(8, 16)
    adds = addition(2, (2, 0), Window.of_pixels(ROWS, 8, 16))
    longer = region(*run.operations, adds, loads={0, 1}, stores={3})
    late = Striping(Cascade(longer, 1, 3), 4, False)
    # The first layer reads tensor 1: its room is free for the next stripe after that.
    assert late.load_turn(1) == 1
    # The last layer reads tensor 0: it is loaded with its own stripe.
    assert late.load_turn(0) == 2
    assert Striping(late.cascade, 4).load_turn(0) == 0
