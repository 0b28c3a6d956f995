"""Reads of jobs of int16 number by number: which bytes, when, and where results go."""

import functools
from itertools import product

import numpy as np
import pytest
from amaranth.sim import SimulatorContext

from kiwicha.contract.latencies import SHORT_START_CYCLES, short_beat_cycles
from kiwicha.contract.short_elements import ELEMENT_LANES, PAIRS, ShortForm, ShortOperator
from kiwicha.gateware.engine.short_elements.element_reader import ElementReader
from tests.gateware.engine.short_element_jobs import Elements, elements_job, random_elements
from tests.support.gateware.unit_simulation import UnitSimulation

AT = (5000, 20011, 40000)
Read = tuple[int, int, bool, bool, bool, bool]
"""Cycle, address, and whether the read completes, begins or ends a beat, and is the last one."""


@functools.cache
def simulation() -> UnitSimulation[ElementReader]:
    return UnitSimulation(ElementReader())


def expected(item: Elements) -> tuple[list[Read], list[int]]:
    """Return the reads of a job, and where the results of its beats go."""
    reads: list[Read] = []
    places = []
    is_whole = item.form is ShortForm.WHOLE
    beat_bytes = ELEMENT_LANES * (2 if is_whole else 1)
    _, width = item.input_shape
    period = short_beat_cycles(elements_job(item, AT))
    counts = (range(item.blocks), range(item.rows), range(item.columns))
    beats = list(product(*counts))
    for number, (block, row, column) in enumerate(beats):
        starts = []
        for kernel_row, kernel_column in product(*map(range, item.kernel)):
            y = row * item.stride[0] + kernel_row
            x = column * item.stride[1] + kernel_column
            starts.append(AT[0] + (y * width + x) * item.pitches[0])
        if item.operator in PAIRS:
            pixel = 0 if item.is_one_pixel else row * item.columns + column
            starts.append(AT[1] + pixel * item.pitches[0])
        cycle = SHORT_START_CYCLES + number * period
        for part, start in enumerate(starts):
            first = start + block * beat_bytes
            is_last = part == len(starts) - 1
            if not is_whole:
                reads.append((cycle, first, False, part == 0, False, False))
                cycle, first = cycle + 1, first + item.plane_bytes
            ends_job = is_last and number == len(beats) - 1
            reads.append((cycle, first, True, part == 0, is_last, ends_job))
            cycle += 1
        upper = 0 if is_whole else item.plane_bytes
        pixel = (row * item.columns + column) * item.pitches[1]
        places.append(AT[2] + upper + block * beat_bytes + pixel)
    return reads, places


def check(items: list[Elements]) -> None:
    """Run jobs one after the other and compare."""
    unit = simulation().component

    async def bench(ctx: SimulatorContext) -> None:
        for item in items:
            raw = elements_job(item, AT).pack()
            ctx.set(unit.job.as_value(), int.from_bytes(raw, "little"))
            ctx.set(unit.start, 1)
            reads, places = expected(item)
            wanted = {read[0]: read for read in reads}
            size = len(places) * short_beat_cycles(elements_job(item, AT))
            found = []
            for cycle in range(size + SHORT_START_CYCLES):
                read = unit.read
                flags = [ctx.get(flag) for flag in (read.completes, read.begins, read.ends)]
                if cycle in wanted:
                    _, address, completes, begins, ends, is_last = wanted[cycle]
                    assert ctx.get(unit.address) == address, cycle
                    assert flags == [completes, begins, ends], cycle
                    assert ctx.get(read.is_last) == is_last
                    if ends:
                        found.append(ctx.get(read.place))
                else:
                    assert not flags[0], cycle
                    assert not flags[2], cycle
                assert ctx.get(unit.is_reading) == (0 < cycle <= size), cycle
                await ctx.tick()
                ctx.set(unit.start, 0)
            assert found == places
            await ctx.tick()

    simulation().run(bench)


@pytest.mark.parametrize("seed", range(4))
def test_random_jobs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check([random_elements(rng) for _ in range(10)])


@pytest.mark.parametrize("form", ShortForm, ids=lambda form: form.name)
@pytest.mark.parametrize("operator", ShortOperator, ids=lambda operator: operator.name)
def test_one_beat(operator: ShortOperator, form: ShortForm) -> None:
    rng = np.random.default_rng(operator)
    found = random_elements(rng)
    one = (1, 1)
    check([
        Elements(operator, form, *(1, 1, 1), one, one, (16, 16), False, found.scales)
        for _ in range(2)
    ])


@pytest.mark.parametrize("kernel", [(255, 1), (1, 255)])
def test_the_longest_windows(kernel: tuple[int, int]) -> None:
    scales = random_elements(np.random.default_rng(0)).scales
    form, sizes, pitches = ShortForm.WHOLE, (1, 1, 1), (16, 16)
    check([Elements(ShortOperator.MAX, form, *sizes, kernel, (1, 1), pitches, False, scales)])
