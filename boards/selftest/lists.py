"""Checks of the engine: each kind of job, patterns through its DMA, and its watchdog."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.models import Example
from kiwicha.boards.selftest.runner import FREE_ADDRESS, Runner
from kiwicha.contract.cfu import ALIGNMENT_BYTES, Group, function_id
from kiwicha.contract.engine import (
    ENGINE_ERROR_TEXT,
    TRANSFER_ERROR,
    EngineError,
    EngineJob,
    EngineOp,
    JobKind,
)
from kiwicha.contract.serial import SerialInstruction
from kiwicha.sim.reference import executor as reference

__all__ = [
    "check_jobs",
    "check_patterns",
    "check_watchdog",
    "difference",
    "error_text",
    "expected_outputs",
    "loads_of_list",
    "start_of_list",
]

_LIST_CYCLES = 1_000_000
_STUCK_CYCLES = 20_000
_LINE_BITS = 8 * ALIGNMENT_BYTES
_PROGRAM, _ARENA = 0, 1


def check_jobs(
    runner: Runner, made: Mapping[JobKind, Example], rng: np.random.Generator
) -> Iterator[Finding]:
    """Yield what comes of each kind of job.

    Parameters
    ----------
    runner : Runner
        The board.
    made : mapping
        `kiwicha.boards.selftest.models.examples` of its configuration.
    rng : numpy.random.Generator
        Where inputs come from.
    """
    for kind, example in made.items():
        inputs = [rng.bytes(item.ref.bytes) for item in example.program.inputs]
        yield _compared(runner, f"engine, {kind.name}", example, inputs, _CAUSES[kind])


def check_patterns(runner: Runner, mover: Example) -> Iterator[Finding]:
    """Yield what comes of patterns that go through the engine's DMA.

    Parameters
    ----------
    runner : Runner
        The board.
    mover : Example
        That of `JobKind.MOVE`: what comes out of it are the bytes that go in.
    """
    (place,) = mover.program.inputs
    for name, raw in _patterns(place.ref.bytes).items():
        yield _compared(runner, f"engine DMA, {name}", mover, [raw], _DMA_CAUSE)


def _patterns(size: int) -> dict[str, bytes]:
    """Return inputs that move each line of the memory's port alone, and all at once."""
    walking = np.zeros((_LINE_BITS, _LINE_BITS), np.uint8)
    np.fill_diagonal(walking, 1)
    ones = np.packbits(walking, bitorder="little").tobytes()
    all_lines = bytes(ALIGNMENT_BYTES) + b"\xff" * ALIGNMENT_BYTES
    every_other = b"\x55" * ALIGNMENT_BYTES + b"\xaa" * ALIGNMENT_BYTES
    cycles = {"one bit set": ones, "all bits in turn": all_lines, "every other bit": every_other}
    zeros = bytes(~byte & 0xFF for byte in ones)
    return {
        name: (raw * -(-size // len(raw)))[:size]
        for name, raw in {**cycles, "one bit clear": zeros}.items()
    }


def _op(op: EngineOp, index: int = 0, a: int = 0, b: int = 0) -> SerialInstruction:
    return SerialInstruction(function_id(Group.ENGINE, op, index), a, b)


def start_of_list(example: Example, image: bytes) -> list[SerialInstruction]:
    """Return what starts the list of an image that lies where `loads_of_list` says."""
    call = example.call
    return [
        _op(EngineOp.RANGE, _PROGRAM, FREE_ADDRESS, len(image)),
        _op(EngineOp.RANGE, _ARENA, FREE_ADDRESS + len(image), _arena_bytes(example)),
        _op(EngineOp.START, 0, 0, call.job_count | call.transfer_count << 16),
    ]


def loads_of_list(
    example: Example, image: bytes, inputs: Sequence[bytes], expected: Sequence[bytes]
) -> list[tuple[int, bytes]]:
    """Return what is in DRAM before a list begins: image and arena, by address."""
    arena = bytearray(_arena_bytes(example))
    # None of the bytes that come out is there before; inputs may share their place.
    for tensor, raw in zip(example.program.outputs, expected, strict=True):
        start = tensor.ref.offset
        arena[start : start + tensor.ref.bytes] = bytes(~byte & 0xFF for byte in raw)
    program = example.program
    for state, first in zip(program.states, program.first_values(), strict=True):
        arena[state.ref.offset : state.ref.offset + state.ref.bytes] = first
    for tensor, raw in zip(program.inputs, inputs, strict=True):
        arena[tensor.ref.offset : tensor.ref.offset + tensor.ref.bytes] = raw
    return [(FREE_ADDRESS, image), (FREE_ADDRESS + len(image), bytes(arena))]


def _arena_bytes(example: Example) -> int:
    return -(-example.program.arena_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _execute(
    runner: Runner,
    example: Example,
    image: bytes,
    inputs: Sequence[bytes],
    expected: Sequence[bytes],
    cycles: int,
) -> tuple[int, list[bytes]]:
    """Run a list on a board; return how it ended, and the outputs."""
    answers = runner.execute(
        [
            _op(EngineOp.WATCHDOG, 0, cycles),
            *start_of_list(example, image),
            _op(EngineOp.WAIT),
        ],
        loads_of_list(example, image, inputs, expected),
    )
    return answers[-1], _outputs(runner, example, len(image))


def _outputs(runner: Runner, example: Example, image_bytes: int) -> list[bytes]:
    arena_at = FREE_ADDRESS + image_bytes
    return [
        runner.link.read(arena_at + item.ref.offset, item.ref.bytes)
        for item in example.program.outputs
    ]


def expected_outputs(example: Example, inputs: Sequence[bytes]) -> list[bytes]:
    """Return what the reference executor gives."""
    return [np.asarray(item).tobytes() for item in reference.run(example.program, inputs)]


def _compared(
    runner: Runner, check: str, example: Example, inputs: Sequence[bytes], cause: str
) -> Finding:
    """Run a list and compare its outputs with those of the reference executor."""
    expected = expected_outputs(example, inputs)
    status, outputs = _execute(runner, example, example.image, inputs, expected, _LIST_CYCLES)
    if status:
        return Finding(check, "", f"expected the list to end well, got {error_text(status)}", cause)
    if what := _difference(example, expected, outputs):
        return Finding(check, "", what, cause)
    count = sum(map(len, expected))
    return Finding(check, f"{example.call.job_count} jobs, {count:,} bytes as expected")


def difference(runner: Runner, example: Example, expected: Sequence[bytes]) -> str:
    """Say how the outputs that a list has left in DRAM differ; nothing if they do not."""
    return _difference(example, expected, _outputs(runner, example, len(example.image)))


def _difference(example: Example, expected: Sequence[bytes], outputs: Sequence[bytes]) -> str:
    for tensor, right, got in zip(example.program.outputs, expected, outputs, strict=True):
        if right != got:
            wrong = [
                at for at, (one, other) in enumerate(zip(right, got, strict=True)) if one != other
            ]
            at = wrong[0]
            place = FREE_ADDRESS + len(example.image) + tensor.ref.offset + at
            return (
                f"at {place:#x}, byte {at} of the output, expected {right[at]:#04x}, got "
                f"{got[at]:#04x}; {len(wrong):,} of {len(right):,} bytes differ"
            )
    return ""


def check_watchdog(runner: Runner, example: Example, rng: np.random.Generator) -> Iterator[Finding]:
    """Yield what comes of a list that hangs, and of a good one behind it.

    Parameters
    ----------
    runner : Runner
        The board.
    example : Example
        The good one.
    rng : numpy.random.Generator
        Where inputs come from.
    """
    transfers = list(example.list.transfers)
    # The first job waits for it, and it waits for the first job.
    stuck = dataclasses.replace(transfers[0], wait_jobs=example.call.job_count)
    at = example.call.job_count * EngineJob.size_bytes()
    image = bytearray(example.image)
    image[at : at + len(stuck.pack())] = stuck.pack()
    inputs = [rng.bytes(item.ref.bytes) for item in example.program.inputs]
    expected = expected_outputs(example, inputs)
    status, _ = _execute(runner, example, bytes(image), inputs, expected, _STUCK_CYCLES)
    if status >> 16 != EngineError.WATCHDOG:
        yield Finding(
            "engine, watchdog",
            "",
            f"expected a list that hangs to end with WATCHDOG, got {error_text(status)}",
            "the engine's control",
        )
    else:
        yield Finding("engine, watchdog", f"a list that hangs ended after {_STUCK_CYCLES:,} cycles")
    yield _compared(
        runner, "engine, after the watchdog", example, inputs, "the engine's reset after an error"
    )


def error_text(status: int) -> str:
    """Say in words what the end of a list has answered."""
    error, number = status >> 16, status & 0xFFFF
    if status == 0:
        return "no error"
    if error not in set(EngineError):
        return f"{status:#x}"
    what = "transfer" if number & TRANSFER_ERROR else "job"
    known = EngineError(error)
    return f"{known.name} at {what} {number & ~TRANSFER_ERROR}: {ENGINE_ERROR_TEXT[known]}"


_ARRAY = "the engine's array, its weight loader or requantizer"
_DMA_CAUSE = (
    "the engine's DMA or its port of the memory; if bits of single lines differ, the data lines"
)
_CAUSES = {
    JobKind.CONV: _ARRAY,
    JobKind.DEPTHWISE: _ARRAY,
    JobKind.ADD: "the engine's tables or requantizer",
    JobKind.TABLE: "the engine's tables or requantizer",
    JobKind.MAX: "the engine's cells that compare, or its addresses",
    JobKind.MUL: "the engine's array or requantizer",
    JobKind.MOVE: "the engine's move unit, scratchpad or DMA",
    JobKind.SOFTMAX: "the engine's softmax unit",
    JobKind.DEPTHWISE_UNIT: "the engine's depthwise unit",
    JobKind.RECURRENT: "the engine's unit for steps of LSTMs",
    JobKind.SHORT_ELEMENTS: "the engine's unit for numbers of int16, or its requantizer",
}
