"""Runs Programs on the simulated system on chip."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.program import BootBlock
from kiwicha.errors import SimulationError
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.program.image import Program
from kiwicha.sim.soc.prepared_memory import prepared
from kiwicha.sim.soc.run_memory import RunMemory, RunResult, failure, run_memory, run_result
from kiwicha.sim.soc.sequence_memory import SequenceResult, sequence_memory, sequence_result
from kiwicha.sim.soc.stream_memory import StreamResult, stream_memory, stream_result
from kiwicha.sim.verilator.activity import Activity
from kiwicha.sim.verilator.image_run import DEFAULT_MAX_CYCLES, Ending, Progress, run_image
from kiwicha.sim.verilator.simulator import (
    GENERATING,
    Simulator,
    build_simulator,
    soc_header_text,
)
from kiwicha.sim.verilator.verilated_runtime import USUAL, runtime_objects

__all__ = ["EndObserver", "SimulatedRun", "run_program", "run_sequence", "run_stream"]

EndObserver = Callable[[Ending, int], None]
"""Called with what a simulation left and the address of the arena, before the firmware's status is
looked at."""


@dataclass(frozen=True)
class SimulatedRun(RunResult):
    """What a run of a Program gave, and what it took.

    Parameters
    ----------
    simulated_cycles : int
        Cycles from reset to the end.
    wall_seconds : float
        Time that the simulation took, loading and dumping of memories excluded.
    uart : str
        What the firmware sent.
    activity : Activity
        What engine and steps did, and when.
    """

    simulated_cycles: int
    wall_seconds: float
    uart: str
    activity: Activity = field(compare=False)


def run_program(
    program: Program,
    inputs: Sequence[bytes],
    *,
    inferences: int = 1,
    check_boot: bool = False,
    max_cycles: int = DEFAULT_MAX_CYCLES,
    trace: Path | None = None,
    trace_start: int = 0,
    trace_stop: int | None = None,
    on_progress: Progress | None = None,
    on_build: Callable[[str], None] | None = None,
    simulator: Simulator | None = None,
    firmware: Image | None = None,
    on_end: EndObserver | None = None,
) -> SimulatedRun:
    """Run a Program on the simulated system.

    Parameters
    ----------
    program : Program
        The Program; it decides the configuration.
    inputs : sequence of bytes
        One per input of the Program, row-major. Every inference gets the same, and begins with the
        first values of the Program's states.
    inferences : int
        How many in a row, 1 or more.
    check_boot : bool
        The firmware checks the Program and copies the first inputs, as on a board; else memory is
        as if it had, and it starts at the first inference: see `kiwicha.sim.soc.prepared_memory`.
    max_cycles : int
        The simulation is given up after so many cycles.
    trace : Path or None
        File for waveforms, in FST format.
    trace_start : int
        First cycle in that file.
    trace_stop : int or None
        First cycle behind it; by default all cycles are in it.
    on_progress : callable or None
        See `Progress`.
    on_build : callable or None
        Called with the name of each build stage that takes time.
    simulator, firmware : Simulator, Image or None
        Others than those of the Program's configuration.
    on_end : callable or None
        See `EndObserver`.

    Returns
    -------
    SimulatedRun
        Outputs and cycles.

    Raises
    ------
    UsageError
        If inputs or inferences do not fit the Program.
    CapacityError
        If the run does not fit into DRAM.
    SimulationError
        If the firmware reports an error, or the cycle limit is reached.
    ToolError
        If the simulator or the firmware cannot be built.
    """
    memory = run_memory(program, inputs, inferences=inferences)
    ending = _run(
        program,
        memory,
        check_boot=check_boot,
        max_cycles=max_cycles,
        trace=trace,
        trace_start=trace_start,
        trace_stop=trace_stop,
        on_progress=on_progress,
        on_build=on_build,
        simulator=simulator,
        firmware=firmware,
    )
    if on_end is not None:
        on_end(ending, BootBlock.unpack(memory.loads[0][1]).arena_address)
    _require_success(ending)
    result = run_result(program, ending.dumps, inferences=inferences)
    return SimulatedRun(
        **vars(result),
        simulated_cycles=ending.cycles,
        wall_seconds=ending.wall_seconds,
        uart=ending.uart,
        activity=ending.activity,
    )


def _require_success(ending: Ending) -> None:
    """Raise if the firmware reports an error."""
    if ending.code != Status.OK:
        raise SimulationError(failure(ending.code, ending.dumps[0], ending.uart))


def run_stream(
    program: Program,
    sets: Sequence[Sequence[bytes]],
    *,
    inferences: int,
    check_boot: bool = False,
    max_cycles: int = DEFAULT_MAX_CYCLES,
    on_progress: Progress | None = None,
    on_build: Callable[[str], None] | None = None,
) -> StreamResult:
    """Run a Program on a stream of inputs, which the CPU loads while the engine works.

    Parameters
    ----------
    program : Program
        The Program, with a double buffer.
    sets : sequence of sequence of bytes
        One or more times one input per input of the Program; inferences take them in turn.
    inferences : int
        How many in a row.
    check_boot, max_cycles, on_progress, on_build
        As of `run_program`.

    Returns
    -------
    StreamResult
        Outputs of every inference, and when it had ended.

    Raises
    ------
    UsageError, CapacityError, SimulationError, ToolError
        As `run_program`; and if the Program has no double buffer or no engine.
    """
    ending = _run(
        program,
        stream_memory(program, sets, inferences=inferences),
        check_boot=check_boot,
        max_cycles=max_cycles,
        on_progress=on_progress,
        on_build=on_build,
    )
    _require_success(ending)
    return stream_result(program, ending.dumps)


def run_sequence(
    program: Program,
    sets: Sequence[Sequence[bytes]],
    *,
    inferences: int | None = None,
    check_boot: bool = False,
    max_cycles: int = DEFAULT_MAX_CYCLES,
    on_progress: Progress | None = None,
    on_build: Callable[[str], None] | None = None,
) -> SequenceResult:
    """Run a Program several times in a row, each time with the states that it had left.

    Parameters
    ----------
    program : Program
        The Program, without a double buffer.
    sets : sequence of sequence of bytes
        One or more times one input per input of the Program; inferences take them in turn.
    inferences : int, optional
        How many in a row; by default one for each set.
    check_boot, max_cycles, on_progress, on_build
        As of `run_program`.

    Returns
    -------
    SequenceResult
        Outputs and cycles of every inference.

    Raises
    ------
    UsageError, CapacityError, SimulationError, ToolError
        As `run_program`; and if the Program has a double buffer.
    """
    count = len(sets) if inferences is None else inferences
    ending = _run(
        program,
        sequence_memory(program, sets, inferences=count),
        check_boot=check_boot,
        max_cycles=max_cycles,
        on_progress=on_progress,
        on_build=on_build,
    )
    _require_success(ending)
    return sequence_result(program, ending.dumps)


def _run(
    program: Program,
    memory: RunMemory,
    *,
    check_boot: bool,
    max_cycles: int,
    trace: Path | None = None,
    trace_start: int = 0,
    trace_stop: int | None = None,
    on_progress: Progress | None = None,
    on_build: Callable[[str], None] | None = None,
    simulator: Simulator | None = None,
    firmware: Image | None = None,
) -> Ending:
    """Simulate from reset until the firmware has done what the boot block says."""
    if simulator is None:
        simulator, image = _built(program, trace=trace is not None, on_build=on_build)
        firmware = firmware or image
    if firmware is None:
        firmware = _firmware(program, simulator.soc_header)
    loads = memory.loads if check_boot else prepared(memory).loads
    ending = run_image(
        simulator,
        loads=[(cfu.ONCHIP_BASE, firmware.raw), *loads],
        dumps=memory.dumps,
        max_cycles=max_cycles,
        trace=trace,
        trace_start=trace_start,
        trace_stop=trace_stop,
        on_progress=on_progress,
    )
    return ending


def _built(
    program: Program, *, trace: bool, on_build: Callable[[str], None] | None
) -> tuple[Simulator, Image]:
    """Return simulator and firmware, built at a time: much of a build uses one core."""
    config = program.config
    with ThreadPoolExecutor(2) as pool:

        def on_generating() -> None:
            if on_build is not None:
                on_build(GENERATING)
            # A tool that fails here does so again where the simulator is compiled.
            pool.submit(runtime_objects, USUAL)

        header = soc_header_text(config, on_generating)
        firmware = pool.submit(_firmware, program, header)
        simulator = build_simulator(config, trace=trace, on_build=on_build)
        return simulator, firmware.result()


def _firmware(program: Program, soc_header: str) -> Image:
    kernels = [step.kernel for step in program.steps]
    return build_firmware(program.config, soc_header, kernels=kernels)
