"""Choices: what stays in the scratchpad, what moves, and what is passed on in stripes."""

import itertools
import math

import pytest

from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.schedule.estimates.arithmetic import Arithmetic
from kiwicha.compiler.engine.schedule.estimates.estimate import Estimate, transfer_cycles
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_costs
from kiwicha.compiler.engine.schedule.events import OrderedEvents
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.compiler.engine.schedule.stripes.cascade import Cascade, Choice, Room, Striping
from kiwicha.compiler.memory.placement import lower_bound
from tests.compiler.engine.build import addition, depthwise, pointwise, region

KIB = 1024


def residual_block(rows: int, columns: int, channels: int, wide: int) -> Region:
    """Give tensor 0 -> 1 -> wide 2 -> wide 3 -> 4; 4 + 1 -> 5."""
    pixels = rows, columns
    around = {"kernel_rows": 3, "kernel_columns": 3, "pad_top": 1, "pad_left": 1}
    return region(
        pointwise(0, *pixels, channels, channels),
        pointwise(1, *pixels, channels, wide),
        depthwise(2, Window(*pixels, wide, *pixels, **around)),
        pointwise(3, *pixels, wide, channels),
        addition(4, (4, 1), Window.of_pixels(*pixels, channels)),
        loads={0},
        stores={5},
    )


def check(run: Region, choice: Choice, capacity: int) -> None:
    """Check that the cascades cover the run, and what they need of the scratchpad."""
    ends = [0, *(striping.cascade.end for striping in choice.stripings)]
    assert [striping.cascade.first for striping in choice.stripings] == ends[:-1]
    assert ends[-1] == len(run.operations)
    passed = set().union(*(striping.cascade.passed for striping in choice.stripings))
    assert not passed & choice.streamed
    assert lower_bound(OrderedEvents(run, choice).buffers) <= capacity


def test_what_fits_stays_and_is_not_cut() -> None:
    run = residual_block(8, 8, 8, 32)
    choice = Chooser(run, 64).choose(64 * KIB)
    check(run, choice, 64 * KIB)
    assert len(choice.stripings) == len(run.operations)
    assert choice.streamed <= {0, 5}


@pytest.mark.parametrize("capacity", [16 * KIB, 24 * KIB, 48 * KIB])
@pytest.mark.parametrize("macs", [32, 64, 128, 256])
def test_wide_tensors_are_passed_on(capacity: int, macs: int) -> None:
    run = residual_block(40, 40, 8, 48)
    choice = Chooser(run, macs).choose(capacity)
    check(run, choice, capacity)
    passed = set().union(*(striping.cascade.passed for striping in choice.stripings))
    # 75 KiB each, written at a result per cycle: they are not worth their transfers.
    assert passed & {2, 3}


@pytest.mark.nightly
def test_the_choice_is_the_best_of_all() -> None:
    """Compare with an exhaustive search over cascades, heights and resident tensors."""
    run = residual_block(12, 12, 8, 16)
    capacity = 4 * KIB
    costs = operation_costs(run, 64)
    chooser = Chooser(run, 64)

    def price(choice: Choice) -> float:
        resident = {0, 1, 2, 3, 4, 5} - choice.streamed
        total = 0.0
        for striping in choice.stripings:
            cascade = striping.cascade
            part = costs[cascade.first : cascade.end]
            total += Estimate(Arithmetic(cascade, part), choice.streamed).cycles(striping)
            for tensor in {0, 5} & resident & {*cascade.inputs, cascade.output}:
                total += transfer_cycles(run.tensor_bytes(tensor))
        return total

    best = math.inf
    for cuts in itertools.product((False, True), repeat=len(run.operations) - 1):
        ends = [number + 1 for number, is_cut in enumerate(cuts) if is_cut] + [len(run.operations)]
        cascades = [Cascade(run, a, b) for a, b in itertools.pairwise([0, *ends])]
        outside = {t for c in cascades for t in (*c.inputs, c.output)}
        if not all(cascade.is_possible for cascade in cascades):
            continue
        for number in range(2 ** len(outside)):
            streamed = frozenset(t for k, t in enumerate(sorted(outside)) if number >> k & 1)
            stripings: list[Striping | None] = []
            for cascade in cascades:
                part = Estimate(Arithmetic(cascade, costs[cascade.first : cascade.end]), streamed)
                resident = [
                    t
                    for t in outside - streamed
                    if run.uses(t)[0] < cascade.end and run.uses(t)[1] >= cascade.first
                ]
                host = cascade.host(frozenset(resident))
                free = capacity - sum(
                    run.tensor_bytes(t) for t in resident if host is None or t != cascade.output
                )
                options = [
                    Striping(cascade, height, is_early, room)
                    for height in ([12] if part.is_whole else range(1, 13))
                    for is_early in (False, True)
                    for room in Room
                ]
                fitting = [striping for striping in options if part.bytes(striping) <= free]
                stripings.append(min(fitting, key=part.cycles, default=None))
            if None not in stripings:
                best = min(best, price(Choice(tuple(filter(None, stripings)), streamed)))
    # The chooser does not try every height.
    assert best <= price(chooser.choose(capacity)) <= 1.02 * best


def test_a_tensor_that_is_needed_later_is_not_passed_on() -> None:
    run = residual_block(8, 8, 8, 32)
    assert Cascade(run, 1, 4).is_possible
    assert Cascade(run, 0, 5).is_possible
    assert not Cascade(run, 0, 2).is_possible
    assert not Cascade(run, 0, 4).is_possible
    assert not Cascade(Region(run.operations, run.loads, frozenset({2, 5})), 1, 4).is_possible


def test_memory_is_taken_over_only_from_what_nobody_else_reads() -> None:
    run = residual_block(8, 8, 8, 32)
    everything = frozenset(range(6))
    assert Cascade(run, 4, 5).host(everything) == 4
    # In this cascade the second layer reads rows of tensor 1 that another stripe adds to.
    assert Cascade(run, 1, 5).host(everything - {2, 3, 4}) is None
    assert Cascade(run, 3, 5).host(everything - {4}) == 1
    assert Cascade(run, 4, 5).host(everything - {5}) is None


def test_a_layer_whose_rows_are_too_large_is_named() -> None:
    run = residual_block(8, 64, 8, 64)
    with pytest.raises(RefusedError) as caught:
        Chooser(run, 64).choose(4 * KIB)
    assert caught.value.position == 1
