"""What a simulated engine writes beside the reference executor, job by job."""

import re
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.errors import SimulationError, UsageError
from kiwicha.program.image import Program
from kiwicha.sim.profile import checked_run
from kiwicha.sim.profile.checked_run import run_checked
from kiwicha.sim.profile.written_parts import Compared, Difference, compare_parts
from kiwicha.sim.reference.executor import written_parts
from kiwicha.sim.reference.written import Written
from kiwicha.sim.soc.probes import Bit, Count
from kiwicha.sim.verilator.activity import Activity
from kiwicha.sim.verilator.simulator import CFU, elaborated
from kiwicha.sim.verilator.write_log import WRITTEN_SIGNALS, WriteKind, WriteLog
from kiwicha.zoo import models as zoo
from tests.support.choices import by_day
from tests.support.models.two_heads import two_heads

ARENA = DRAM_BASE + 0x8000
PART_CYCLES = 10
Writes = list[tuple[int, WriteKind, int, int, bytes]]


class Recorded:
    """A log as an engine would leave it that writes what the reference executor writes."""

    def __init__(self, program: Program, parts: dict[int, list[Written]]) -> None:
        self.writes: Writes = []
        self._states: list[tuple[int, int]] = [(0, 0)]
        self._cycle = 100
        for listed in parts.values():
            self._add_list(listed)
        self.program, self.parts = program, parts

    def _add_list(self, parts: list[Written]) -> None:
        done = {False: 0, True: 0}
        self._note(done, is_running=True)
        for part in parts:
            self._cycle += PART_CYCLES
            self._write(part)
            self._cycle += 1
            # A transfer that brings a table is complete as well, and writes nothing.
            done[part.is_transfer] = part.number + 1
            self._note(done, is_running=True)
        self._cycle += 1
        self._note(done, is_running=False)
        self._cycle += PART_CYCLES

    def _note(self, done: dict[bool, int], *, is_running: bool) -> None:
        counts = zip(Count, (done[False], done[True]), strict=True)
        engine = sum(value << count.shift for count, value in counts)
        self._states.append((self._cycle, engine | is_running << Bit.RUNNING))

    def _write(self, part: Written) -> None:
        base = ARENA - DRAM_BASE if part.in_arena else 0
        lines: dict[int, tuple[int, bytearray]] = {}
        for address, value in zip(part.addresses + base, part.values, strict=True):
            mask, octets = lines.get(address // LINE_BYTES, (0, bytearray(LINE_BYTES)))
            octets[address % LINE_BYTES] = value
            lines[address // LINE_BYTES] = (mask | 1 << address % LINE_BYTES, octets)
        for line, (mask, octets) in lines.items():
            if part.in_arena:
                self.writes.append((self._cycle, WriteKind.COMMAND, line, 0, bytes(LINE_BYTES)))
                self.writes.append((self._cycle, WriteKind.WORD, 0, mask, bytes(octets)))
            else:
                self.writes.append((self._cycle, WriteKind.LINE, line, mask, bytes(octets)))

    def compare(self) -> Compared:
        """Compare it with what the reference executor writes."""
        raw = b"".join(struct.pack("<QQIIII", c, e, 0, 0, 0, 0) for c, e in self._states)
        return compare_parts(
            self.program,
            self.parts,
            Activity.from_bytes(raw),
            WriteLog.from_writes(self.writes),
            arena_address=ARENA,
            scratchpad_bytes=self.program.config.scratchpad_bytes,
        )


@pytest.fixture(scope="module")
def recorded() -> Callable[[], Recorded]:
    program = compile_model(zoo.resolve(zoo.DEMO)[1], "64")
    size = program.inputs[0].ref.bytes
    parts = written_parts(program, [np.random.default_rng(1).bytes(size)])
    return lambda: Recorded(program, parts)


def changed(record: Recorded, kind: WriteKind, at: int) -> None:
    """Change a byte of one of the last writes of a kind."""
    index = [number for number, write in enumerate(record.writes) if write[1] == kind][at]
    cycle, _, line, mask, octets = record.writes[index]
    byte = (int(mask) & -int(mask)).bit_length() - 1
    other = bytes(value ^ (0x80 if k == byte else 0) for k, value in enumerate(octets))
    record.writes[index] = (cycle, kind, line, mask, other)


def test_the_same_writes_are_compared_to_the_last_byte(recorded: Callable[[], Recorded]) -> None:
    record = recorded()
    compared = record.compare()
    parts = [part for listed in record.parts.values() for part in listed]
    assert compared.difference is None
    assert compared.jobs == sum(not part.is_transfer for part in parts)
    assert compared.transfers == sum(part.is_transfer for part in parts)
    assert compared.octets == sum(len(part.addresses) for part in parts) > 10_000
    assert str(compared).endswith("bytes as the reference executor")


@pytest.mark.parametrize("kind", [WriteKind.LINE, WriteKind.WORD])
def test_a_changed_byte_is_named(recorded: Callable[[], Recorded], kind: WriteKind) -> None:
    record = recorded()
    changed(record, kind, -1)
    difference = record.compare().difference
    assert difference is not None
    assert difference.in_arena == (kind == WriteKind.WORD)
    assert (difference.got ^ difference.expected) & 0xFF == 0x80
    assert difference.count == 1
    written = [cycle for cycle, one, *_ in record.writes if one == kind]
    assert difference.cycle == written[-1]
    what = "transfer" if kind == WriteKind.WORD else "job"
    text = rf"inference 0, step \d+, {what} \d+ \(\w+\) of layer \d+ \([A-Z0-9_]+\) differs first"
    assert re.match(text, str(difference))


def test_an_earlier_difference_comes_first(recorded: Callable[[], Recorded]) -> None:
    record = recorded()
    changed(record, WriteKind.LINE, -1)
    changed(record, WriteKind.LINE, 0)
    assert record.compare().difference.cycle == record.writes[0][0]


def test_a_byte_that_is_missing_is_named(recorded: Callable[[], Recorded]) -> None:
    record = recorded()
    index = next(k for k, write in enumerate(record.writes) if write[1] == WriteKind.LINE)
    del record.writes[index]
    difference = record.compare().difference
    assert difference.got is None
    assert "not written" in str(difference)


def test_a_byte_that_a_store_leaves_out_is_named() -> None:
    """Also if the last byte of the store would be right in its place."""
    program = compile_model(two_heads(), "64")
    raw = np.random.default_rng(3).bytes(program.inputs[0].ref.bytes)
    record = Recorded(program, written_parts(program, [raw]))
    parts = [part for listed in record.parts.values() for part in listed if part.in_arena]
    same = next(
        int(part.addresses[k])
        for part in parts
        for k in np.flatnonzero(part.values[:-1] == part.values[-1])
    )
    word, byte = divmod(same + ARENA - DRAM_BASE, LINE_BYTES)
    index = next(
        k
        for k, (_, kind, number, *_) in enumerate(record.writes)
        if (kind, number) == (WriteKind.COMMAND, word)
    )
    cycle, kind, line, mask, octets = record.writes[index + 1]
    record.writes[index + 1] = (cycle, kind, line, mask & ~(1 << int(byte)), octets)
    difference = record.compare().difference
    assert (difference.address, difference.got) == (same, None)


def test_a_word_at_another_address_is_named(recorded: Callable[[], Recorded]) -> None:
    record = recorded()
    index = next(k for k, write in enumerate(record.writes) if write[1] == WriteKind.COMMAND)
    cycle, kind, line, mask, octets = record.writes[index]
    record.writes[index] = (cycle, kind, line + 4096, mask, octets)
    difference = record.compare().difference
    assert difference.in_arena
    assert difference.got is None


@pytest.mark.verilator
@pytest.mark.parametrize(
    "config", by_day("64", "32", "128", "256", "64-blocks-softmax", "128-depthwise")
)
def test_what_is_logged_is_there(config: str) -> None:
    text = (elaborated(find_config(config)) / CFU).read_text(encoding="utf-8")
    for module, names in WRITTEN_SIGNALS.items():
        start = text.index(f"module \\{module} (")
        body = text[start : text.index("endmodule", start)]
        for name in names:
            assert re.search(rf"\b{name} ?;", body), name


def test_jobs_are_those_of_an_engine() -> None:
    program = compile_model(two_heads(), "simd")
    with pytest.raises(UsageError, match="must be checked on a config with an engine, not on simd"):
        run_checked(program, [bytes(program.inputs[0].ref.bytes)])


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("config", ["64", "128-depthwise"])
@pytest.mark.parametrize("name", ["person_detect", "kws", "resnet8", "vww"])
def test_jobs_of_public_models(
    zoo_model: Callable[[str], Path],
    golden_cases: Callable[[str], list[Any]],
    config: str,
    name: str,
) -> None:
    program, golden = compile_model(zoo_model(name), config), golden_cases(name)[0]
    result, compared = run_checked(program, [golden.input], inferences=2)
    assert result.outputs == (golden.output,)
    parts = written_parts(program, [golden.input])
    assert compared.difference is None
    assert compared.lists == 2 * len(parts)
    assert compared.octets == 2 * sum(
        len(part.addresses) for listed in parts.values() for part in listed
    )


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize("config", ["64", "128-depthwise"])
def test_what_an_engine_writes_otherwise_is_named(
    monkeypatch: pytest.MonkeyPatch, config: str
) -> None:
    """A byte of one job is changed in what the engine is compared with."""
    program = compile_model(zoo.resolve(zoo.DEMO)[1], config)
    raw = np.random.default_rng(2).bytes(program.inputs[0].ref.bytes)
    parts = written_parts(program, [raw])
    part = next(part for part in parts[0] if not part.is_transfer and part.number == 1)
    part.values[3] ^= 1
    monkeypatch.setattr(checked_run, "written_parts", lambda program, inputs: parts)
    result, compared = run_checked(program, [raw])
    difference = compared.difference
    (start, end), *_ = result.activity.lists()
    assert difference.text.startswith("inference 0, step 0, job 1 (")
    assert difference.address == part.addresses[3]
    assert difference.got ^ difference.expected in {1, -1}
    assert start < difference.cycle < end


def test_a_difference_is_told_where_firmware_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_model(zoo.resolve(zoo.DEMO)[1], "64")
    difference = Difference("job 3", 0x20, False, -1, 5, 900, 2, 40)

    def stop(*_: object, on_end: Callable[[Any, int], None], **__: object) -> None:
        on_end(SimpleNamespace(writes=(), activity=None), ARENA)
        raise SimulationError("the firmware stopped")

    monkeypatch.setattr(checked_run, "build_simulator", lambda *_, **__: None)
    monkeypatch.setattr(checked_run, "run_program", stop)
    for found, text in ((difference, f"the firmware stopped; before, {difference}"), (None, None)):
        compared = Compared(difference=found)
        monkeypatch.setattr(checked_run, "compare_parts", lambda *_, c=compared, **__: c)
        with pytest.raises(SimulationError) as error:
            run_checked(program, [bytes(program.inputs[0].ref.bytes)])
        assert str(error.value) == (text or "the firmware stopped")
