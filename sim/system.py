"""Runs Programs on the simulated system on chip."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kiwicha import isa
from kiwicha.errors import CapacityError, SimulationError, UsageError
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.isa import BootBlock, Status
from kiwicha.isa_engine import EngineCounter, EngineError
from kiwicha.program import Program, Step
from kiwicha.sim.activity import Activity
from kiwicha.sim.simulate import DEFAULT_MAX_CYCLES, Ending, Progress, run_image
from kiwicha.sim.verilate import Simulator, build_simulator

__all__ = ["RunResult", "run_program"]

_NO_STEP = 0xFFFF_FFFF
_PAGE_BYTES = 4096
"""Regions start at multiples of the data cache's size, so that cycles do not depend on sizes."""


@dataclass(frozen=True)
class RunResult:
    """What a run of a Program gave.

    Parameters
    ----------
    outputs : tuple of bytes
        The outputs of the last inference, in the Program's order.
    step_cycles : tuple of tuple of int
        Cycles of every step, for every inference.
    job_ends : tuple of tuple of tuple of int
        For every inference and step, the cycles, from the step's start, in which the engine's jobs
        ended; empty for steps of the CPU.
    counters : tuple of tuple of tuple of int
        For every inference and step, the values of `EngineCounter`; empty for steps of the CPU.
    first_cycles, last_cycles : int
        Cycles of all steps of the first and of the last inference.
    simulated_cycles : int
        Cycles from reset to the end.
    wall_seconds : float
        Time that the simulation took, loading and dumping of memories excluded.
    uart : str
        What the firmware sent.
    activity : Activity
        What engine and steps did, and when.
    """

    outputs: tuple[bytes, ...]
    step_cycles: tuple[tuple[int, ...], ...]
    job_ends: tuple[tuple[tuple[int, ...], ...], ...]
    counters: tuple[tuple[tuple[int, ...], ...], ...]
    first_cycles: int
    last_cycles: int
    simulated_cycles: int
    wall_seconds: float
    uart: str
    activity: Activity


@dataclass(frozen=True)
class _Layout:
    """Where a job lies in DRAM."""

    program: int
    arena: int
    inputs: int
    cycles: int


def run_program(
    program: Program,
    inputs: Sequence[bytes],
    *,
    inferences: int = 1,
    max_cycles: int = DEFAULT_MAX_CYCLES,
    trace: Path | None = None,
    trace_start: int = 0,
    on_progress: Progress | None = None,
    on_build: Callable[[str], None] | None = None,
    simulator: Simulator | None = None,
    firmware: Image | None = None,
) -> RunResult:
    """Run a Program on the simulated system.

    Parameters
    ----------
    program : Program
        The Program; it decides the configuration.
    inputs : sequence of bytes
        One per input of the Program, row-major. Every inference gets the same.
    inferences : int
        How many in a row, 1 or more.
    max_cycles : int
        The simulation is given up after so many cycles.
    trace : Path or None
        File for waveforms, in FST format.
    trace_start : int
        First cycle in that file.
    on_progress : callable or None
        See `Progress`.
    on_build : callable or None
        Called with the name of each build stage that takes time.
    simulator, firmware : Simulator, Image or None
        Others than those of the Program's configuration.

    Returns
    -------
    RunResult
        Outputs and cycles.

    Raises
    ------
    UsageError
        If inputs or inferences do not fit the Program.
    CapacityError
        If the job does not fit into DRAM.
    SimulationError
        If the firmware reports an error, or the cycle limit is reached.
    ToolError
        If the simulator or the firmware cannot be built.
    """
    _check_inputs(program, inputs, inferences)
    if simulator is None:
        simulator = build_simulator(program.config, trace=trace is not None, on_build=on_build)
    if firmware is None:
        announce = None if on_build is None else lambda: on_build("compiling the firmware")
        firmware = build_firmware(program.config, simulator.soc_header, on_build=announce)

    raw = program.to_bytes()
    entries = [_cycle_entries(step) for step in program.steps]
    cycles_bytes = inferences * sum(entries) * 4
    input_image = b"".join(_padded(item, isa.ALIGNMENT_BYTES) for item in inputs)
    layout = _place(len(raw), program.arena_bytes, len(input_image), cycles_bytes)
    boot = BootBlock(
        magic=isa.BOOT_MAGIC,
        program_address=layout.program,
        program_bytes=len(raw),
        arena_address=layout.arena,
        arena_bytes=program.arena_bytes,
        inputs_address=layout.inputs,
        inputs_bytes=len(input_image),
        inferences=inferences,
        cycles_address=layout.cycles,
        cycles_bytes=cycles_bytes,
        status=Status.BAD_BOOT_BLOCK,
        failed_step=_NO_STEP,
        finished=0,
        progress=0,
        total_cycles=0,
        first_cycles=0,
        engine_status=0,
    )
    ending = run_image(
        simulator,
        loads=[
            (isa.ONCHIP_BASE, firmware.raw),
            (isa.BOOT_BLOCK_ADDRESS, boot.pack()),
            (layout.program, raw),
            (layout.inputs, input_image),
        ],
        dumps=[
            (isa.BOOT_BLOCK_ADDRESS, BootBlock.size_bytes()),
            (layout.cycles, cycles_bytes),
            *((layout.arena + item.ref.offset, item.ref.bytes) for item in program.outputs),
        ],
        max_cycles=max_cycles,
        trace=trace,
        trace_start=trace_start,
        on_progress=on_progress,
    )
    boot_after = BootBlock.unpack(ending.dumps[0])
    if ending.code != Status.OK:
        raise SimulationError(_failure(ending, boot_after))
    words = iter(struct.unpack(f"<{cycles_bytes // 4}I", ending.dumps[1]))
    tables = [[tuple(islice(words, count)) for count in entries] for _ in range(inferences)]
    return RunResult(
        outputs=ending.dumps[2:],
        step_cycles=tuple(tuple(row[0] for row in table) for table in tables),
        job_ends=tuple(tuple(row[1 + len(EngineCounter) :] for row in table) for table in tables),
        counters=tuple(tuple(row[1 : 1 + len(EngineCounter)] for row in table) for table in tables),
        first_cycles=boot_after.first_cycles,
        last_cycles=boot_after.total_cycles,
        simulated_cycles=ending.cycles,
        wall_seconds=ending.wall_seconds,
        uart=ending.uart,
        activity=ending.activity,
    )


def _cycle_entries(step: Step) -> int:
    """Return how many words of the table of cycles belong to a step."""
    if not isinstance(step.params, isa.EngineRun):
        return 1
    return 1 + len(EngineCounter) + step.params.job_count


def _failure(ending: Ending, boot: BootBlock) -> str:
    known = ending.code in set(Status)
    text = isa.STATUS_TEXT[Status(ending.code)] if known else "unknown status"
    name = Status(ending.code).name if known else str(ending.code)
    where = f"status {name}"
    if boot.failed_step != _NO_STEP:
        where += f" in step {boot.failed_step}"
    if ending.code == Status.ENGINE:
        code, number = divmod(boot.engine_status, 1 << 16)
        reasons = {int(error): error.name for error in EngineError}
        is_transfer, number = divmod(number, 1 << 15)
        where += f", {reasons.get(code, code)} at {'transfer' if is_transfer else 'job'} {number}"
    elif ending.code == Status.TRAP:
        where += f" after {boot.progress} finished steps; {ending.uart.strip()}"
    return f"the firmware stopped: {text} ({where})"


def _check_inputs(program: Program, inputs: Sequence[bytes], inferences: int) -> None:
    if inferences < 1:
        raise UsageError(f"inferences must be 1 or more, not {inferences}")
    if len(inputs) != len(program.inputs):
        raise UsageError(f"there must be {len(program.inputs)} inputs, not {len(inputs)}")
    for index, (raw, tensor) in enumerate(zip(inputs, program.inputs, strict=True)):
        if len(raw) != tensor.ref.bytes:
            raise UsageError(
                f"input {index} must have {tensor.ref.bytes} bytes, not {len(raw)} ({tensor.name})"
            )


def _place(program: int, arena: int, inputs: int, cycles: int) -> _Layout:
    addresses = []
    address = isa.IMAGE_ADDRESS
    for size in (program, arena, inputs, cycles):
        addresses.append(address)
        address += -(-size // _PAGE_BYTES) * _PAGE_BYTES
    space = isa.DRAM_BASE + isa.DRAM_BYTES - isa.IMAGE_ADDRESS
    if address - isa.IMAGE_ADDRESS > space:
        raise CapacityError(
            f"Program, arena and tensors must fit into {space} bytes of DRAM, not "
            f"{address - isa.IMAGE_ADDRESS}"
        )
    return _Layout(*addresses)


def _padded(raw: bytes, multiple: int) -> bytes:
    return raw + bytes(-len(raw) % multiple)
