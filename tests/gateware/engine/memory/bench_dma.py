"""Bench of the readers, the writer and their port: what comes and goes, and how fast."""

import random
from typing import Any

import cocotb
from cocotb.triggers import FallingEdge

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.latencies import PORT_QUIET_CYCLES
from tests.support.gateware import bench, stream_drivers
from tests.support.gateware.dram_port import DramPort, DramRange, DramTiming

__all__ = ["ranges", "stops"]

_WORDS = 4096
_ADDRESS_BITS = 24


class _Requests:
    """Offers ranges one after the other."""

    def __init__(self, dut: Any, client: str, ranges: list[range], rng: random.Random) -> None:
        self.valid, self.ready, self.payload = (
            getattr(dut, f"{client}__requests__{part}") for part in ("valid", "ready", "payload")
        )
        self.ranges, self.rng = ranges, rng
        self.taken = 0

    def drive(self) -> None:
        """Offer the next."""
        self.offers = self.taken < len(self.ranges)
        self.valid.value = int(self.offers)
        payload = self.rng.getrandbits(3 * _ADDRESS_BITS)
        if self.offers:
            words = self.ranges[self.taken]
            payload = words.start | (len(words) | words.stop << _ADDRESS_BITS) << _ADDRESS_BITS
        self.payload.value = payload

    def sample(self, cycle: int) -> None:
        """Note whether it is taken."""
        self.taken += self.offers and bool(int(self.ready.value))


class _Reader:
    """Takes beats and compares them."""

    def __init__(
        self, dut: Any, number: int, ranges: list[range], rng: random.Random, stall: float
    ) -> None:
        prefix = f"readers__{number}"
        self.requests = _Requests(dut, prefix, ranges, rng)
        self.valid, self.ready, self.payload = (
            getattr(dut, f"{prefix}__beats__{part}") for part in ("valid", "ready", "payload")
        )
        self.expected = [(address, address == words[-1]) for words in ranges for address in words]
        self.rng, self.stall = rng, stall
        self.taken = 0

    @property
    def is_done(self) -> bool:
        """Every beat came."""
        return self.taken == len(self.expected)

    def drive(self) -> None:
        """Offer requests, take beats."""
        self.requests.drive()
        self.is_ready = self.rng.random() >= self.stall
        self.ready.value = int(self.is_ready)

    def compare(self, memory: bytearray) -> None:
        """Compare a beat that is taken with the word that is still there."""
        if not (self.is_ready and int(self.valid.value)):
            return
        address, is_last = self.expected[self.taken]
        raw = memory[address * LINE_BYTES : (address + 1) * LINE_BYTES]
        beat = int(self.payload.value)
        assert beat == int.from_bytes(raw, "little") | is_last << 128, f"word {address}"
        self.taken += 1


class _Writer:
    """Gives beats while there is room, as late as what is behind it may."""

    def __init__(self, dut: Any, ranges: list[range], rng: random.Random, stall: float) -> None:
        self.dut, self.rng, self.stall = dut, rng, stall
        self.requests = _Requests(dut, "writer", ranges, rng)
        self.ranges = ranges
        self.expected: dict[int, int] = {}
        self.given = [0, 0]
        """Ranges, and beats of the one under way."""
        self.under_way: list[tuple[int, int] | None] = [None, None, None]

    @property
    def is_done(self) -> bool:
        """Every range was given and accepted."""
        gave_all = self.given[0] == len(self.ranges) and not any(self.under_way)
        return gave_all and bool(int(self.dut.writer__store__is_idle.value))

    def drive(self) -> None:
        """Offer requests and beats."""
        self.requests.drive()
        beat = self.under_way.pop(0)
        self.dut.writer__store__beats__valid.value = int(beat is not None)
        if beat is None:
            self.dut.writer__store__beats__payload.value = self.rng.getrandbits(144)
        else:
            self.dut.writer__store__beats__payload.value = beat[0] | beat[1] << 128

    def sample(self, memory: bytearray) -> None:
        """Decide about the beat that comes three cycles later."""
        self.under_way.append(None)
        number, done = self.given
        wants = self.requests.taken > number and self.rng.random() >= self.stall
        if not (wants and int(self.dut.writer__store__has_room.value)):
            return
        word = self.rng.getrandbits(128)
        mask = self.rng.choice((0xFFFF, self.rng.getrandbits(16)))
        self.under_way[-1] = (word, mask)
        first = self.ranges[number][done] * LINE_BYTES
        for k in range(LINE_BYTES):
            if mask >> k & 1:
                self.expected[first + k] = word >> 8 * k & 0xFF
        self.given = [number, done + 1]
        if done + 1 == len(self.ranges[number]):
            self.given = [number + 1, 0]


def _ranges(rng: random.Random, low: int, high: int, count: int) -> list[range]:
    made = []
    for _ in range(count):
        words = rng.choice((1, 2, 63, 64, 65, rng.randint(1, 200)))
        first = rng.randint(low, high - words)
        made.append(range(first, first + words))
    return made


class _Bench:
    """Readers in the lower half of DRAM, the writer in the upper one."""

    def __init__(self, dut: Any) -> None:
        values = bench.parameters()
        self.dut = dut
        self.rng = rng = random.Random(values["seed"])
        stall, count = values["stall"], values["count"]
        self.memory = bytearray(rng.randbytes(_WORDS * LINE_BYTES))
        self.before = bytes(self.memory)
        half = _WORDS // 2
        sizes = values.get("words")
        self.readers = [
            _Reader(
                dut,
                number,
                [range(9, 9 + sizes)] if sizes else _ranges(rng, 9, half, count),
                rng,
                stall,
            )
            for number in range(values["active_readers"])
        ]
        writes = [range(half, half + sizes)] if sizes else _ranges(rng, half, _WORDS - 9, count)
        self.writer = _Writer(dut, writes if values["writes"] else [], rng, stall)
        self.port = DramPort(
            dut,
            "port",
            memory=self.memory,
            ranges=[
                DramRange(9 * LINE_BYTES, (half - 9) * LINE_BYTES, is_writable=False),
                DramRange(half * LINE_BYTES, (half - 9) * LINE_BYTES, is_writable=True),
            ],
            timing=DramTiming(**values["timing"]),
            rng=rng,
        )

    def drive(self) -> None:
        """Set everything."""
        for reader in self.readers:
            reader.drive()
        self.writer.drive()
        self.port.drive()

    def sample(self, cycle: int) -> None:
        """See everything."""
        for reader in self.readers:
            reader.requests.sample(cycle)
            reader.compare(self.memory)
        self.writer.requests.sample(cycle)
        self.writer.sample(self.memory)
        self.port.sample(cycle)
        self.cycle = cycle

    @property
    def is_done(self) -> bool:
        """All is over."""
        return all(reader.is_done for reader in self.readers) and self.writer.is_done

    async def begin(self) -> None:
        """Reset."""
        self.dut.halt.value = 0
        self.dut.port__rdata__valid.value = 0
        self.dut.writer__store__beats__valid.value = 0
        for number in range(2):
            getattr(self.dut, f"readers__{number}__requests__valid").value = 0
        await stream_drivers.reset(self.dut.clk, self.dut.rst, PORT_QUIET_CYCLES + 1)
        await FallingEdge(self.dut.clk)


@cocotb.test()
async def ranges(dut: Any) -> None:
    """Read and write random ranges at the same time; compare all of DRAM."""
    values = bench.parameters()
    test = _Bench(dut)
    await test.begin()
    await stream_drivers.run_until(
        dut.clk, [test], lambda: test.is_done, limit_cycles=values["limit_cycles"]
    )
    expected = bytearray(test.before)
    for address, octet in test.writer.expected.items():
        expected[address] = octet
    assert test.memory == expected
    assert int(dut.is_idle.value)
    dut._log.info("%d cycles for %d words", test.cycle, test.port.reads + test.port.writes)


@cocotb.test()
async def stops(dut: Any) -> None:
    """Halt in the middle: the port becomes idle, and owes nothing when it says so."""
    test = _Bench(dut)
    await test.begin()
    for _ in range(40):
        for until_idle in (False, True):
            dut.halt.value = int(until_idle)
            for cycle in range(test.rng.randint(1, 60) if not until_idle else 3000):
                test.drive()
                await cocotb.triggers.ReadOnly()
                test.sample(cycle)
                is_idle = bool(int(dut.is_idle.value))
                await FallingEdge(dut.clk)
                if until_idle and is_idle:
                    assert test.port.is_idle
                    break
            else:
                assert not until_idle, "the port must become idle"
