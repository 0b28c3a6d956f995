"""The ring of samples in DRAM: where samples lie, how many are there, and when one is too late."""

import random
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from litedram.common import LiteDRAMNativePort
from migen import run_simulation

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.sim.soc.sample_ring import LINE_SAMPLES, SampleRing
from tests.sim.soc.dram_port import Memory

PLACE, SIZE = 0x1000, 32
APART_CYCLES = 8
"""From sample to sample."""
OVERWRITTEN, LOST = 1, 2


def some_samples(count: int) -> list[int]:
    rng = random.Random(4)
    return [rng.randrange(1 << 16) for _ in range(count)]


class Bench:
    """A ring and what is around it."""

    def __init__(self, waits: int) -> None:
        port = LiteDRAMNativePort("write", address_width=24, data_width=8 * LINE_BYTES)
        self.dut = SampleRing(port=port)
        self.memory = Memory(port, waits)

    def run(self, drive: Iterator[Any], cycles: int) -> None:
        """Simulate until all of it is driven, or for so many cycles if the memory needs more."""
        run_simulation(self.dut, [drive, self.memory.serve(cycles)])

    def enable(self) -> Iterator[Any]:
        """Set the registers."""
        yield self.dut._place.storage.eq(DRAM_BASE + PLACE)
        yield self.dut._size.storage.eq(SIZE)
        yield self.dut._control.fields.enable.eq(1)
        for _ in range(3):
            yield

    def give(self, samples: list[int], *, has_read: int | None = None) -> Iterator[Any]:
        """Give samples, which software reads when they are there, or not at all from some on."""
        for sample in samples:
            yield self.dut.sample.eq(sample)
            yield self.dut.is_sample.eq(1)
            yield
            yield self.dut.is_sample.eq(0)
            for _ in range(APART_CYCLES - 1):
                written = yield self.dut._written.status
                if has_read is None or written <= has_read:
                    yield self.dut._read.storage.eq(written)
                yield

    def wait(self, cycles: int = 400) -> Iterator[Any]:
        """Let lines arrive."""
        for _ in range(cycles):
            yield

    def overrun(self) -> Generator[Any, Any, int]:
        """Return the flags, once they are there."""
        overwritten = yield self.dut._overrun.fields.overwritten
        lost = yield self.dut._overrun.fields.lost
        return int(overwritten * OVERWRITTEN + lost * LOST)

    def ring(self) -> list[int]:
        """Return the samples in DRAM."""
        raw = self.memory.read(PLACE, 2 * SIZE)
        return [int.from_bytes(raw[at : at + 2], "little") for at in range(0, len(raw), 2)]


def in_ring(samples: list[int]) -> list[int]:
    """Return what a ring has of samples: of each place the newest one of a whole line."""
    ring = [0] * SIZE
    for number, sample in enumerate(samples[: len(samples) // LINE_SAMPLES * LINE_SAMPLES]):
        ring[number % SIZE] = sample
    return ring


@pytest.mark.parametrize(
    ("waits", "count"),
    [
        (20, 75),
        *(pytest.param(*case, marks=pytest.mark.nightly) for case in ((0, 100), (20, 8), (0, 31))),
    ],
)
def test_samples_lie_one_behind_the_other(waits: int, count: int) -> None:
    bench, samples = Bench(waits), some_samples(count)

    def drive() -> Iterator[Any]:
        yield from bench.enable()
        yield from bench.give(samples)
        yield from bench.wait()
        assert (yield bench.dut._written.status) == count // LINE_SAMPLES * LINE_SAMPLES
        assert (yield from bench.overrun()) == 0

    bench.run(drive(), APART_CYCLES * count + 500)
    assert bench.ring() == in_ring(samples)


def test_what_is_said_to_be_written_is_in_dram() -> None:
    bench, samples = Bench(20), some_samples(SIZE)
    seen: set[int] = set()

    def watch() -> Iterator[Any]:
        for _ in range(APART_CYCLES * SIZE + 200):
            written = yield bench.dut._written.status
            assert bench.ring()[:written] == samples[:written]
            seen.add(written)
            yield

    def drive() -> Iterator[Any]:
        yield from bench.enable()
        yield from bench.give(samples)

    run_simulation(bench.dut, [drive(), watch(), bench.memory.serve(APART_CYCLES * SIZE + 300)])
    assert seen == {*range(0, SIZE + 1, LINE_SAMPLES)}


def test_a_sample_that_is_not_read_in_time_is_told() -> None:
    bench, samples = Bench(0), some_samples(2 * SIZE + 8)

    def drive() -> Iterator[Any]:
        dut = bench.dut
        yield from bench.enable()
        # Software reads no more behind the first line: the ring is full one line later than it is.
        yield from bench.give(samples[: SIZE + 8], has_read=8)
        yield from bench.wait(40)
        assert (yield from bench.overrun()) == 0
        yield from bench.give(samples[SIZE + 8 : SIZE + 16], has_read=8)
        yield from bench.wait(40)
        assert (yield from bench.overrun()) == OVERWRITTEN
        # It stays until software clears it; samples go on meanwhile.
        yield dut._read.storage.eq(SIZE + 16)
        yield from bench.give(samples[SIZE + 16 : SIZE + 24])
        assert (yield from bench.overrun()) == OVERWRITTEN
        yield dut._clear.re.eq(1)
        yield
        yield dut._clear.re.eq(0)
        yield from bench.give(samples[SIZE + 24 :])
        yield from bench.wait(40)
        assert (yield from bench.overrun()) == 0
        assert (yield dut._written.status) == len(samples)

    bench.run(drive(), APART_CYCLES * len(samples) + 500)
    assert bench.ring() == in_ring(samples)


def test_a_sample_that_dram_is_too_slow_for_is_told() -> None:
    bench = Bench(0)

    def drive() -> Iterator[Any]:
        yield from bench.enable()
        # Nobody serves the memory any more: FIFO and DMA hold lines, and the next one is too many.
        yield from bench.give(some_samples(6 * LINE_SAMPLES))
        assert not (yield from bench.overrun()) & LOST
        yield from bench.give(some_samples(8 * LINE_SAMPLES))
        assert (yield from bench.overrun()) & LOST

    bench.run(drive(), 4)


@pytest.mark.nightly
def test_enabled_anew_it_begins_at_the_first_sample() -> None:
    bench, samples = Bench(100), some_samples(20)

    def drive() -> Iterator[Any]:
        dut = bench.dut
        yield from bench.enable()
        # The memory takes many cycles for the line, which is still under way when sound ends.
        yield from bench.give(samples[:8])
        yield dut._control.fields.enable.eq(0)
        yield
        yield dut._control.fields.enable.eq(1)
        yield from bench.wait(1000)
        assert (yield dut._written.status) == 0
        # Of the four samples behind the line nothing is left when sound is enabled again.
        yield from bench.give(samples[8:])
        yield dut._control.fields.enable.eq(0)
        yield
        yield dut._control.fields.enable.eq(1)
        yield from bench.wait(1000)
        yield from bench.give(samples[:8])
        yield from bench.wait(1000)
        assert (yield dut._written.status) == 8

    bench.run(drive(), 3500)
    assert bench.ring() == in_ring(samples[:8])
