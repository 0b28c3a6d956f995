"""The memory of a run: boot block, Program and inputs in DRAM, and what the firmware leaves there.

Simulation and boards load and read the same.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from kiwicha.contract import cfu
from kiwicha.contract.cfu import Status
from kiwicha.contract.engine import TRANSFER_ERROR, EngineCall, EngineCounter, EngineError
from kiwicha.contract.program import BOOT_MAGIC, BootBlock
from kiwicha.contract.serial import LOADER_BYTES
from kiwicha.errors import CapacityError, UsageError
from kiwicha.program.image import Program
from kiwicha.program.parts import Step

__all__ = [
    "RunMemory",
    "RunResult",
    "cycle_words",
    "failure",
    "output_bytes",
    "padded",
    "run_memory",
    "run_result",
    "sets_memory",
    "stored_outputs",
]

_NO_STEP = 0xFFFF_FFFF
_PAGE_BYTES = 4096
"""Regions start at multiples of the data cache's size, so that cycles do not depend on sizes."""


@dataclass(frozen=True)
class RunMemory:
    """What DRAM holds for a run, and where.

    Parameters
    ----------
    loads : tuple of (int, bytes)
        Addresses and contents before the run: boot block, Program, then inputs.
    dumps : tuple of (int, int)
        Addresses and sizes of what is read after it: boot block, cycles, each output, each state.
    free_address : int
        First address behind it, a multiple of 4096.
    """

    loads: tuple[tuple[int, bytes], ...]
    dumps: tuple[tuple[int, int], ...]
    free_address: int


@dataclass(frozen=True)
class RunResult:
    """What a run left in DRAM.

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
    states : tuple of bytes
        What is kept behind the last inference.
    """

    outputs: tuple[bytes, ...]
    step_cycles: tuple[tuple[int, ...], ...]
    job_ends: tuple[tuple[tuple[int, ...], ...], ...]
    counters: tuple[tuple[tuple[int, ...], ...], ...]
    first_cycles: int
    last_cycles: int
    states: tuple[bytes, ...]


def run_memory(
    program: Program,
    inputs: Sequence[bytes],
    *,
    inferences: int,
    dram_bytes: int | None = None,
) -> RunMemory:
    """Lay a run out in DRAM.

    Parameters
    ----------
    program : Program
        What runs.
    inputs : sequence of bytes
        One per input of the Program, row-major.
    inferences : int
        How many in a row, 1 or more.
    dram_bytes : int, optional
        What may be used from `cfu.DRAM_BASE` on; by default what the memory has that the Program
        was compiled for.

    Raises
    ------
    UsageError
        If inputs or inferences do not fit the Program.
    CapacityError
        If the run does not fit into DRAM.
    """
    cycles_bytes = inferences * sum(cycle_words(program)) * 4
    boot, loads, free = _laid_out(program, [inputs], inferences, cycles_bytes, dram_bytes)
    refs = [*(item.ref for item in program.outputs), *(item.ref for item in program.states)]
    return RunMemory(
        loads=loads,
        dumps=(
            (cfu.BOOT_BLOCK_ADDRESS, BootBlock.size_bytes()),
            (boot.cycles_address, cycles_bytes),
            *((boot.arena_address + ref.offset, ref.bytes) for ref in refs),
        ),
        free_address=free,
    )


def _laid_out(
    program: Program,
    sets: Sequence[Sequence[bytes]],
    inferences: int,
    cycles_bytes: int,
    dram_bytes: int | None = None,
    *,
    outputs_bytes: int = 0,
) -> tuple[BootBlock, tuple[tuple[int, bytes], ...], int]:
    """Return the boot block of a run, what DRAM holds before it, and the first free address.

    Parameters
    ----------
    program : Program
        What runs.
    sets : sequence of sequence of bytes
        Inputs, which inferences take in turn.
    inferences : int
        How many in a row.
    cycles_bytes : int
        Size of the table of cycles.
    dram_bytes : int, optional
        See `run_memory`.
    outputs_bytes : int
        Room for the outputs of all inferences; 0 if they are not stored.

    Raises
    ------
    UsageError, CapacityError
        As `run_memory`.
    """
    for inputs in sets:
        _check_inputs(program, inputs, inferences)
    if dram_bytes is None:
        dram_bytes = program.memory.dram_bytes - LOADER_BYTES
    raw = program.to_bytes()
    image = b"".join(padded(item) for inputs in sets for item in inputs)
    sizes = (len(raw), program.arena_bytes, len(image), cycles_bytes, outputs_bytes)
    program_at, arena_at, inputs_at, cycles_at, outputs_at, free = _places(sizes, dram_bytes)
    boot = BootBlock(
        magic=BOOT_MAGIC,
        program_address=program_at,
        program_bytes=len(raw),
        arena_address=arena_at,
        arena_bytes=program.arena_bytes,
        inputs_address=inputs_at,
        inputs_bytes=len(image),
        inferences=inferences,
        cycles_address=cycles_at,
        cycles_bytes=cycles_bytes,
        status=Status.BAD_BOOT_BLOCK,
        failed_step=_NO_STEP,
        finished=0,
        progress=0,
        total_cycles=0,
        first_cycles=0,
        engine_status=0,
        input_sets=len(sets) if outputs_bytes else 0,
        outputs_address=outputs_at,
        outputs_bytes=outputs_bytes,
        prepared=0,
    )
    loads = (cfu.BOOT_BLOCK_ADDRESS, boot.pack()), (program_at, raw), (inputs_at, image)
    return boot, loads, free


def sets_memory(
    program: Program, sets: Sequence[Sequence[bytes]], inferences: int, cycles_bytes: int
) -> RunMemory:
    """Lay out a run that takes sets of inputs in turn and stores the outputs of all inferences.

    Parameters
    ----------
    program : Program
        What runs.
    sets : sequence of sequence of bytes
        One or more times one input per input of the Program.
    inferences : int
        How many in a row.
    cycles_bytes : int
        What each of them adds to the table of cycles.

    Raises
    ------
    UsageError
        If there are no sets, or inputs or inferences do not fit the Program.
    CapacityError
        If the run does not fit into DRAM.
    """
    if not sets:
        raise UsageError("sets of inputs must be 1 or more, not 0")
    outputs_bytes = inferences * sum(output_bytes(program))
    boot, loads, free = _laid_out(
        program, sets, inferences, inferences * cycles_bytes, outputs_bytes=outputs_bytes
    )
    dumps = (
        (cfu.BOOT_BLOCK_ADDRESS, BootBlock.size_bytes()),
        (boot.cycles_address, boot.cycles_bytes),
        (boot.outputs_address, boot.outputs_bytes),
    )
    return RunMemory(loads=loads, dumps=dumps, free_address=free)


def run_result(program: Program, dumps: Sequence[bytes], *, inferences: int) -> RunResult:
    """Return what a run left in the ranges `RunMemory.dumps`."""
    boot = BootBlock.unpack(dumps[0])
    entries = cycle_words(program)
    words = iter(struct.unpack(f"<{len(dumps[1]) // 4}I", dumps[1]))
    tables = [[tuple(islice(words, count)) for count in entries] for _ in range(inferences)]
    count = len(program.outputs)
    return RunResult(
        outputs=tuple(dumps[2 : 2 + count]),
        states=tuple(dumps[2 + count :]),
        step_cycles=tuple(tuple(row[0] for row in table) for table in tables),
        job_ends=tuple(tuple(row[1 + len(EngineCounter) :] for row in table) for table in tables),
        counters=tuple(tuple(row[1 : 1 + len(EngineCounter)] for row in table) for table in tables),
        first_cycles=boot.first_cycles,
        last_cycles=boot.total_cycles,
    )


def failure(code: int, boot_block: bytes, uart: str) -> str:
    """Return in words why firmware stopped.

    Parameters
    ----------
    code : int
        What it returned, a `Status`.
    boot_block : bytes
        The boot block afterwards.
    uart : str
        What it sent.
    """
    boot = BootBlock.unpack(boot_block)
    known = code in set(Status)
    text = cfu.STATUS_TEXT[Status(code)] if known else "unknown status"
    name = Status(code).name if known else str(code)
    where = f"status {name}"
    if boot.failed_step != _NO_STEP:
        where += f" in step {boot.failed_step}"
    if code == Status.ENGINE:
        error, number = divmod(boot.engine_status, 1 << 16)
        reasons = {int(reason): reason.name for reason in EngineError}
        is_transfer, number = divmod(number, TRANSFER_ERROR)
        what = "transfer" if is_transfer else "job"
        where += f", {reasons.get(error, error)} at {what} {number}"
    elif code == Status.TRAP:
        where += f" after {boot.progress} finished steps; {uart.strip()}"
    return f"the firmware stopped: {text} ({where})"


def output_bytes(program: Program) -> list[int]:
    """Return what each output takes where those of all inferences are stored."""
    return [len(padded(bytes(tensor.ref.bytes))) for tensor in program.outputs]


def stored_outputs(program: Program, raw: bytes) -> tuple[tuple[bytes, ...], ...]:
    """Return the outputs of every inference, as they are stored one after the other."""
    sizes = output_bytes(program)
    found, at = [], 0
    for _ in range(len(raw) // sum(sizes)):
        outputs = []
        for tensor, size in zip(program.outputs, sizes, strict=True):
            outputs.append(raw[at : at + tensor.ref.bytes])
            at += size
        found.append(tuple(outputs))
    return tuple(found)


def cycle_words(program: Program) -> list[int]:
    """Return how many words of the table of cycles belong to each step."""
    return list(map(_cycle_entries, program.steps))


def padded(raw: bytes) -> bytes:
    """Return bytes with zeros up to where the next tensor begins."""
    return raw + bytes(-len(raw) % cfu.ALIGNMENT_BYTES)


def _cycle_entries(step: Step) -> int:
    """Return how many words of the table of cycles belong to a step."""
    if not isinstance(step.params, EngineCall):
        return 1
    return 1 + len(EngineCounter) + step.params.job_count


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


def _places(sizes: Sequence[int], dram_bytes: int) -> list[int]:
    """Return the address of each region, and the one behind the last."""
    addresses = [cfu.IMAGE_ADDRESS]
    for size in sizes:
        addresses.append(addresses[-1] + -(-size // _PAGE_BYTES) * _PAGE_BYTES)
    space = cfu.DRAM_BASE + dram_bytes - cfu.IMAGE_ADDRESS
    if addresses[-1] - cfu.IMAGE_ADDRESS > space:
        raise CapacityError(
            f"Program, arena and tensors must fit into {space} bytes of DRAM, not "
            f"{addresses[-1] - cfu.IMAGE_ADDRESS}"
        )
    return addresses
