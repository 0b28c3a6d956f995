"""The engine alone, without the Python of a bench: hundreds of thousands of cycles a second.

`bench_controller` and `bench_datapath` look closer; this is for thousands of lists on stubborn
memories.
"""

import dataclasses
import functools
import itertools
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import EngineOp
from kiwicha.contract.latencies import PORT_QUIET_CYCLES
from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from kiwicha.sim.verilator.power_up import without_zeros
from tests.support.gateware import bench
from tests.support.gateware.dram_port import DramTiming

__all__ = [
    "ANSWER_CYCLES",
    "SCRATCHPAD_BYTES",
    "Instruction",
    "Outcome",
    "Round",
    "build_engine",
    "compile_engine",
    "engine_verilog",
    "run_rounds",
]

SCRATCHPAD_BYTES = 8192
"""Of the engine that tests by day share: the least that a configuration has."""

_HARNESS = Path(__file__).parent / "harness"
_TOP = "engine"
_VERILATE = (
    *("--cc", "--exe", "--top-module", _TOP, "--prefix", "Vengine", "--Mdir", "."),
    # Memories start with zeros, as `without_zeros` takes for granted.
    *("-O3", "--x-assign", "fast", "--x-initial", "0", "--no-assert", "-Wno-lint", "-Wno-fatal"),
    # One file of code compiles faster than the header that several would share.
    *("--output-split", "0"),
)
# Most lists take less time than compiling with optimization.
_COMPILE = ("CFG_CXXFLAGS_PCH_I=-include", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0")
_CFLAGS = "-std=c++17"
_FIRST_BYTE = 4096
ANSWER_CYCLES = 10_000_000
"""What an instruction may take."""
_REST_CYCLES = PORT_QUIET_CYCLES + 1
_TAKES_ANSWER = 1 << 31
"""Of an op, for the harness: the answer before is inputs_0."""
_ELAPSED = 1 << 30
"""For the harness: answers the cycles from START to the answer of WAIT."""
_RESET = 1 << 29
"""For the harness: resets the engine alone after inputs_0 cycles, for inputs_1. Answers 0."""

Instruction = tuple[int, int, int, int]
"""`EngineOp`, index, inputs_0 and inputs_1."""


@dataclasses.dataclass(frozen=True)
class Round:
    """A list and the memory that it works on.

    Parameters
    ----------
    image : bytes
        The Program's range; the list is at its start. A multiple of 16 bytes.
    arena : bytes
        The arena's range. A multiple of 16 bytes.
    counts : int
        inputs_1 of START.
    watchdog_cycles : int
        What the list may take.
    pauses : tuple of int
        The list is asked to pause after so many instructions, and goes on, as often as there are
        numbers.
    during, after : tuple of Instruction
        What the engine is asked while the list runs, and when it has ended.
    first_byte : int
        Where in DRAM the image is, a multiple of 16; the arena is behind it.
    ranges : tuple of (int, int), optional
        Of the Program and of the arena: how many bytes before the image, or before the arena, the
        range begins, and its size. Usually none, and theirs.
    offset : int
        Of the list in the Program's range.
    reset : (int, int), optional
        So many cycles behind START the engine is reset, for so many cycles; DRAM is not.
    keeps_settings : bool
        Ranges are those of the list before, and the watchdog is as it is.
    """

    image: bytes
    arena: bytes
    counts: int
    watchdog_cycles: int
    pauses: tuple[int, ...] = ()
    during: tuple[Instruction, ...] = ()
    after: tuple[Instruction, ...] = ()
    first_byte: int = _FIRST_BYTE
    ranges: tuple[tuple[int, int], tuple[int, int]] | None = None
    offset: int = 0
    reset: tuple[int, int] | None = None
    keeps_settings: bool = False


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a list left.

    Parameters
    ----------
    status : int
        The answer of WAIT.
    arena : bytes
        The arena's range.
    stops : tuple of (int, int)
        For each of `Round.pauses` what WAIT answered, and how many jobs (low half) and transfers
        (high half) were complete.
    cycles : int
        From START to the answer of WAIT.
    during, after : tuple of int
        Answers to those of the round.
    """

    status: int
    arena: bytes
    stops: tuple[tuple[int, int], ...] = ()
    cycles: int = 0
    during: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


@functools.cache
def build_engine(
    macs: int,
    scratchpad_bytes: int,
    *,
    has_softmax: bool = True,
    has_blocks: bool = False,
    is_resident: bool = False,
    has_depthwise: bool = False,
    is_preemptible: bool = False,
    has_int16: bool = False,
    has_recurrent: bool = False,
) -> Path:
    """Return the program that executes lists, built at most once.

    Parameters
    ----------
    macs, scratchpad_bytes : int
        See `Engine`.
    has_softmax, has_blocks, is_resident, has_depthwise, is_preemptible, has_int16 : bool
    has_recurrent : bool
        Likewise.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    engine = Engine(
        macs=macs,
        scratchpad_bytes=scratchpad_bytes,
        has_softmax=has_softmax,
        has_blocks=has_blocks,
        is_resident=is_resident,
        has_depthwise=has_depthwise,
        is_preemptible=is_preemptible,
        has_int16=has_int16,
        has_recurrent=has_recurrent,
    )
    return compile_engine(engine_verilog(engine))


def engine_verilog(engine: Engine) -> str:
    """Return the Verilog of an engine, as the harness takes it: the top module is ``engine``."""
    return without_zeros(bench.component_verilog(engine, _TOP))


def compile_engine(text: str, flags: Sequence[str] = (), *, is_fast: bool = False) -> Path:
    """Return the program that executes lists on an engine, compiled at most once.

    Parameters
    ----------
    text : str
        From `engine_verilog`, or what was made of that.
    flags : sequence of str
        Of Verilator, besides the usual ones.
    is_fast : bool
        It shall run ten times as fast, for thousands of runs; compiling takes longer.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    compiling = (*_COMPILE, f"OPT_FAST=-O{int(is_fast)}")
    options = (*_VERILATE, *flags)
    verilator, cxx, make = tools.verilator(), tools.cxx(), tools.make()
    sources = sorted(_HARNESS.glob("*.cpp"))
    headers = sorted(_HARNESS.glob("*.h"))
    parts = [*options, *compiling, _CFLAGS, verilator.version, cxx.version, text]

    def compile_into(folder: Path) -> None:
        (folder / f"{_TOP}.v").write_text(text, encoding="utf-8")
        tools.run(
            [
                *(*verilator.command, *options, f"{_TOP}.v", *map(str, sources)),
                *("-CFLAGS", f"{_CFLAGS} -I{_HARNESS}"),
            ],
            name="Verilator",
            folder=folder,
            environment=verilator.environment,
        )
        compiler = " ".join(cxx.command)
        tools.run(
            [
                *(*make.command, "-f", "Vengine.mk", *compiling),
                *(f"CXX={compiler}", f"LINK={compiler}", f"PYTHON3={sys.executable}"),
            ],
            name="the C++ compiler",
            folder=folder,
            environment=verilator.environment,
        )

    key = cache.digest([*parts, *sources, *headers])
    return cache.build("engines", key, compile_into) / "Vengine"


def run_rounds(
    program: Path,
    rounds: Sequence[Round],
    timing: DramTiming,
    *,
    seed: int,
    host_stall: float,
    folder: Path | None = None,
    answer_cycles: int = ANSWER_CYCLES,
    plusargs: Sequence[str] = (),
) -> list[Outcome]:
    """Execute lists, one after the other.

    Parameters
    ----------
    program : Path
        What `build_engine` returned.
    rounds : sequence of Round
        The lists.
    timing : DramTiming
        How DRAM behaves.
    seed : int
        Of all that is random here.
    host_stall : float
        Share of the cycles, 0 to 1, in which the CPU's side does not move.
    folder : Path or None
        Where the program runs.
    answer_cycles : int
        What an instruction may take.
    plusargs : sequence of str
        Of the design, and of Verilator.

    Raises
    ------
    SimulationError
        If the engine breaks a rule of its ports, touches what lies outside the ranges, or hangs.
    """
    values = [seed, *dataclasses.astuple(timing), host_stall, answer_cycles, _REST_CYCLES]
    asked = [_instructions(entry) for entry in rounds]
    packed = b"".join(
        struct.pack("<4I", entry.first_byte, len(entry.image), len(entry.arena), len(instructions))
        + b"".join(struct.pack("<4I", *instruction) for instruction in instructions)
        + entry.image
        + entry.arena
        for entry, instructions in zip(rounds, asked, strict=True)
    )
    done = subprocess.run(
        [str(program), *map(str, values), *plusargs],
        input=packed,
        capture_output=True,
        check=False,
        cwd=folder,
    )
    if done.returncode:
        raise SimulationError(f"the engine failed: {done.stderr.decode(errors='replace').strip()}")
    outcomes, place = [], 0
    for entry, instructions in zip(rounds, asked, strict=True):
        answers = struct.unpack_from(f"<{len(instructions)}I", done.stdout, place)
        place += 4 * len(instructions)
        outcomes.append(_outcome(entry, instructions, answers, done.stdout[place:]))
        place += len(entry.arena)
    return outcomes


def _outcome(
    entry: Round, instructions: Sequence[Instruction], answers: Sequence[int], rest: bytes
) -> Outcome:
    """Return what a list left, from the answers and the arena behind them."""
    first = len(_settings(entry)) + 1
    last = len(instructions) - len(entry.after) - 2
    start = first + len(entry.during)
    given = [item[:2] for item in instructions[:last]]
    others = [
        answer
        for number, (op, _) in enumerate(given)
        if op not in {EngineOp.WAIT, EngineOp.STATUS} and not first <= number < start
        for answer in answers[number : number + 1]
    ]
    if any(others):
        raise SimulationError(f"instructions but WAIT must answer 0, not {others}")
    waits = [k for k, item in enumerate(given) if item == (EngineOp.WAIT, 0)]
    return Outcome(
        answers[last],
        rest[: len(entry.arena)],
        tuple((answers[k], answers[k + 1]) for k in waits),
        answers[last + 1],
        tuple(answers[first:start]),
        tuple(answers[last + 2 :]),
    )


def _settings(entry: Round) -> list[Instruction]:
    """Return the instructions before START."""
    if entry.keeps_settings:
        return []
    sizes = (len(entry.image), len(entry.arena))
    ranges = entry.ranges or ((0, sizes[0]), (0, sizes[1]))
    places = (entry.first_byte, entry.first_byte + sizes[0])
    return [
        *(
            (EngineOp.RANGE, number, DRAM_BASE + place - before, size)
            for number, (place, (before, size)) in enumerate(zip(places, ranges, strict=True))
        ),
        (EngineOp.WATCHDOG, 0, entry.watchdog_cycles, 0),
    ]


def _instructions(entry: Round) -> list[Instruction]:
    return [
        *_settings(entry),
        (EngineOp.START, 0, entry.offset, entry.counts),
        *entry.during,
        *itertools.chain.from_iterable(_pause(entry, delay) for delay in entry.pauses),
        *([(_RESET, 0, *entry.reset)] if entry.reset else []),
        (EngineOp.WAIT, 0, 0, 0),
        (_ELAPSED, 0, 0, 0),
        *entry.after,
    ]


def _pause(entry: Round, delay: int) -> list[Instruction]:
    """Return instructions that pause a list after some more, and let it go on."""
    return [
        *delay * [(EngineOp.STATUS, 0, 0, 0)],
        (EngineOp.STATUS, 1, 0, 0),
        (EngineOp.WAIT, 0, 0, 0),
        (EngineOp.STATUS, 2, 0, 0),
        (EngineOp.START | _TAKES_ANSWER, 1, 0, 0),
        (EngineOp.START, 0, entry.offset, entry.counts),
    ]
