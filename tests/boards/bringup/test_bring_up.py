"""The benches' vectors on the bring-up design, whose serial line is simulated bit by bit."""

import random
import re
from pathlib import Path

import pytest
from amaranth import Const, Module, Mux, Signal
from amaranth.lib import data

from kiwicha.boards.bringup import replay as replays
from kiwicha.boards.bringup.replay import Difference, Fault, check_design, replay
from kiwicha.boards.link.serial_link import Link
from kiwicha.contract.cfu import AccumulatorOp, DataOp, Group, RequantizeOp, function_id
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.serial import SerialOp
from kiwicha.errors import BoardError
from kiwicha.gateware import cfu
from kiwicha.gateware.bringup import bring_up
from kiwicha.gateware.bringup.bit_time import BAUD_TOLERANCE, MIN_CYCLES_PER_BIT
from kiwicha.gateware.instructions import simd
from kiwicha.sim.reference.cfu_orders import SET_UP
from kiwicha.sim.reference.cfu_vectors import Vector, vectors
from kiwicha.sim.verilator.bring_up_simulator import (
    SimulatedBoard,
    build_bring_up_simulator,
    compile_bring_up,
)

pytestmark = pytest.mark.verilator

SIMD = CONFIGS["simd"]
# As few cycles of a bit as there may be: the simulation is as fast as can be.
CLOCK_HZ = 50_000_000
BAUD = CLOCK_HZ // MIN_CYCLES_PER_BIT


@pytest.fixture(scope="module")
def simulator() -> Path:
    return build_bring_up_simulator(SIMD, CLOCK_HZ, BAUD)


def link_to(board: SimulatedBoard) -> Link:
    return Link(board, tries=20, seconds_per_try=5)


@pytest.mark.parametrize("off", [-BAUD_TOLERANCE, BAUD_TOLERANCE])
def test_every_vector_passes(simulator: Path, off: float) -> None:
    """Half of them at each end of what the line's speed may be."""
    wanted = list(vectors(SIMD, count=1, seed=3))[off > 0 :: 2]
    with SimulatedBoard(simulator, CLOCK_HZ, BAUD * (1 + off)) as board:
        link = link_to(board)
        said = check_design(link, SIMD, CLOCK_HZ)
        assert (said.dram_bytes, said.sys_clk_hz) == (0, CLOCK_HZ)
        seen: list[str] = []
        outcomes = replay(link, SIMD, wanted, on_vector=lambda outcome: seen.append(outcome.vector))
        assert link.noise == b""
    assert seen == [vector.name for vector in wanted]
    assert [outcome for outcome in outcomes if outcome.difference] == []
    assert board.framing_errors == 0
    instructions = sum(outcome.count for outcome in outcomes)
    # At least the bits of all instructions and answers passed.
    assert board.cycles > instructions * 16 * 10 * MIN_CYCLES_PER_BIT


class Noisy(SimulatedBoard):
    """A line that changes, loses and adds bytes."""

    def __init__(self, simulator: Path) -> None:
        super().__init__(simulator, CLOCK_HZ, BAUD)
        self.chance = random.Random(1)
        self.spoiled = 0

    def spoil(self, raw: bytes) -> bytes:
        """Return what arrives."""
        kind = self.chance.randrange(8)
        at = self.chance.randrange(len(raw)) if raw else 0
        if not raw or kind > 2:
            return raw
        self.spoiled += 1
        changed = bytes([raw[at] ^ 1 << self.chance.randrange(8)])
        return raw[:at] + (changed, b"", raw[at : at + 1] + b"\x55")[kind] + raw[at + 1 :]

    def write(self, data: bytes) -> int:
        """Send bytes, some of them spoiled."""
        return super().write(self.spoil(data))

    def read(self, size: int) -> bytes:
        """Return bytes, some of them spoiled."""
        return self.spoil(super().read(size))


def test_no_instruction_is_lost_or_executed_twice_on_a_noisy_line(simulator: Path) -> None:
    names = {"pushes", "push-pop", "fifth-push-is-refused", "mac", "random-5"}
    wanted = [
        Vector(vector.name, vector.instructions[:300])
        for vector in vectors(SIMD, count=1, seed=5)
        if vector.name in names
    ]
    with Noisy(simulator) as board:
        link = Link(board, tries=40, seconds_per_try=0.25)
        outcomes = replay(link, SIMD, wanted)
    assert [outcome for outcome in outcomes if outcome.difference] == []
    assert board.spoiled > 5


class Faulty(simd.SimdInstructions):
    """SIMD instructions with a fault of each kind."""

    def _elaborate_data(self, m: Module, decoded: data.View, is_new: Signal) -> None:
        """MAX is wrong, and the 41st EXTRACT since the start, which a reset does not forget."""
        super()._elaborate_data(m, decoded, is_new)
        count = Signal(16, reset_less=True)
        with m.If(decoded.extract & self.cmd.valid & self.cmd.ready):
            m.d.sync += count.eq(count + 1)
        is_wrong = decoded.max | (decoded.extract & (count == 40))
        flag, answer = self.answers.pop()
        self.answers.append((flag, Mux(is_wrong, Const(1 << 20), answer)))

    def build(
        self,
        m: Module,
        decoded: data.View,
        accepts: Signal,
        is_stalled: Signal,
        is_refused: Signal,
        is_new: Signal,
    ) -> None:
        """Build the units; PACK is never answered."""
        super().build(m, decoded, accepts, is_stalled, is_refused, is_new)
        with m.If(accepts & decoded.pack):
            m.d.sync += self.rsp.valid.eq(0)


@pytest.fixture(scope="module")
def faulty() -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cfu, "SimdInstructions", Faulty)
        # A PUSH no longer waits for the one before it.
        patch.setattr(simd, "_PUSH_TIMER_NEXT_PUSH", 6)
        text = bring_up.bring_up_verilog(SIMD, CLOCK_HZ, BAUD)
    return compile_bring_up(text)


def find(faulty: Path, vector: Vector) -> Difference:
    with SimulatedBoard(faulty, CLOCK_HZ, BAUD) as board:
        link = link_to(board)
        (outcome,) = replay(link, SIMD, [vector])
    assert outcome.difference is not None
    return outcome.difference


def many(op: DataOp, count: int) -> Vector:
    pairs = [(0x0102_0304 * (k + 1) & 0xFFFF_FFFF, 0x7F00_FF80) for k in range(count)]
    return Vector(op.name, tuple((function_id(Group.DATA, op), *pair) for pair in pairs))


@pytest.mark.nightly
def test_a_wrong_instruction_is_found_and_named(faulty: Path) -> None:
    found = find(faulty, many(DataOp.MAX, 3))
    assert (found.index, found.fault) == (0, Fault.LOGIC)
    assert str(found).startswith(
        "MAX, instruction 0: DATA MAX 0 (function id 389) of 0x01020304 and 0x7f00ff80 must answer"
        " 0x7f020304, not 0x00100000; the same when repeated, and with every instruction by itself"
    )
    assert found.to_json()["fault"] == "logic"


@pytest.mark.nightly
def test_a_missing_response_is_found_and_named(faulty: Path) -> None:
    good = many(DataOp.ALIGN, 3).instructions
    found = find(faulty, Vector("hang", (*good, *many(DataOp.PACK, 2).instructions)))
    assert (found.index, found.got, found.fault) == (3, None, Fault.LOGIC)
    assert "instruction 3: DATA PACK 0 " in str(found)
    assert " must answer 0x80010203, but does not; " in str(found)


@pytest.mark.nightly
def test_a_fault_between_instructions_is_told_apart(faulty: Path) -> None:
    """Of pixels that are pushed one after the other, one takes the place of another."""
    writes = [
        (function_id(Group.ACCUMULATOR, AccumulatorOp.WRITE, k), 200 * k, 0) for k in range(16)
    ]
    pushes = [(function_id(Group.REQUANTIZE, RequantizeOp.PUSH, k), 0, 0) for k in range(4)]
    pop = (function_id(Group.REQUANTIZE, RequantizeOp.POP), 0, 0)
    found = find(faulty, Vector("pixels", (*SET_UP, *writes, *pushes, *[pop] * 4)))
    assert found.fault is Fault.SEQUENCE
    assert found.instruction == pop


@pytest.mark.nightly
def test_an_unsteady_fault_is_told_apart(faulty: Path) -> None:
    found = find(faulty, many(DataOp.EXTRACT, 100))
    assert (found.index, found.fault) == (40, Fault.UNSTEADY)


def test_another_design_is_refused(simulator: Path) -> None:
    with SimulatedBoard(simulator, CLOCK_HZ, BAUD) as board:
        link = link_to(board)
        expected = (
            "the board's bitstream must be of baseline at 50000000 Hz, not of simd at 50000000 Hz;"
            " build and load it again"
        )
        with pytest.raises(BoardError, match=f"^{re.escape(expected)}$"):
            check_design(link, CONFIGS["baseline"], CLOCK_HZ)
        with pytest.raises(BoardError, match=r"^the board refused READ: BAD_OP$"):
            link.read(0x4000_0000, 4)


def test_a_wrong_speed_ends_in_an_error(simulator: Path) -> None:
    with SimulatedBoard(simulator, CLOCK_HZ, BAUD / 3) as board:
        link = Link(board, tries=2, seconds_per_try=0.5)
        with pytest.raises(BoardError, match=r"^the board must answer: check the port"):
            link.request(SerialOp.HELLO)


@pytest.mark.parametrize(
    ("last", "index", "got", "text"),
    [
        (None, 5, 0, None),
        ((3, 100), 5, 102, None),
        ((3, 0xFFFF_FFFF), 5, 1, None),
        ((3, 100), 5, 101, "2 to 40 cycles more than 0x00000064"),
        ((3, 100), 5, 141, "2 to 40 cycles more than 0x00000064"),
    ],
)
def test_the_cycle_counter_must_advance(
    last: tuple[int, int] | None, index: int, got: int, text: str | None
) -> None:
    assert replays._wrong_cycles(last, index, got) == text
