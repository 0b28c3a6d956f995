"""Programs with one byte changed on the simulated system."""

import struct
from typing import Any

import pytest

from kiwicha.contract.cfu import DRAM_BASE, Status
from kiwicha.program.format import CHECKED_FROM, checksum
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from tools.fuzz import system
from tools.fuzz.seeds import network_program
from tools.fuzz.system import flipped, run_hostile


@pytest.fixture(scope="module")
def raw() -> bytes:
    return network_program()


def test_changes_are_spread_and_have_a_right_checksum(raw: bytes) -> None:
    changed = [flipped(raw, number) for number in range(60)]
    at = sorted(k for one in changed for k in range(32, len(raw)) if one[k] != raw[k])
    assert len(at) > 50
    assert max(b - a for a, b in zip([0, *at], [*at, len(raw)], strict=True)) < len(raw) // 15
    for one in changed:
        assert struct.unpack_from("<2I", one, CHECKED_FROM - 8) == checksum(one[CHECKED_FROM:])


class _Ending:
    """What a simulation leaves whose good Program has run, or not."""

    code, uart = Status.OK, ""

    def __init__(self, memory: bytes) -> None:
        self.dumps = (memory,)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("none", ""),
        ("canary", "memory of others has changed"),
        ("program", "memory of others has changed"),
        ("status", "must run"),
        ("output", "must give the right bytes"),
    ],
)
def test_outside_effects_are_seen(
    raw: bytes, monkeypatch: pytest.MonkeyPatch, harm: str, said: str
) -> None:
    class Built:
        soc_header = ""
        raw = b""

    def simulated(*_: Any, loads: Any, **__: Any) -> _Ending:
        memory = bytearray(loads[1][1])
        words = memoryview(memory)[0x1000:].cast("B")[:36].cast("I")
        hostile, arena, report = words[0], words[6], words[8]
        program = Program.from_bytes(raw)
        base = arena - DRAM_BASE
        inputs = [
            bytes(memory[base + item.ref.offset :][: item.ref.bytes]) for item in program.inputs
        ]
        for item, value in zip(program.outputs, executor.run(program, inputs), strict=True):
            place = base + item.ref.offset
            memory[place : place + item.ref.bytes] = value.tobytes()
        answers = [Status.BAD_KERNEL, 0xFFFF_FFFF, Status.OK, Status.OK]
        if harm == "status":
            answers[3] = Status.ENGINE
        for k, answer in enumerate(answers):
            at = report - DRAM_BASE + 4 * k
            memory[at : at + 4] = int(answer).to_bytes(4, "little")
        if harm == "canary":
            memory[base - 1] ^= 1
        elif harm == "program":
            memory[hostile - DRAM_BASE + 40] ^= 1
        elif harm == "output":
            memory[base + program.outputs[0].ref.offset] ^= 1
        return _Ending(bytes(memory))

    monkeypatch.setattr(system, "build_simulator", lambda config: Built)
    monkeypatch.setattr(system, "build_firmware", lambda *_, **__: Built)
    monkeypatch.setattr(system, "run_image", simulated)
    result = run_hostile(raw, flipped(raw, 5), 1)
    assert (result.opened, result.invoked) == (Status.BAD_KERNEL, None)
    assert said in ", ".join(result.outside)
    assert bool(result.outside) == bool(said)


@pytest.mark.nightly
@pytest.mark.verilator
def test_a_good_program_runs_behind_a_hostile_one(raw: bytes) -> None:
    for number in range(4):
        assert run_hostile(raw, flipped(raw, number), number).outside == ()
