"""What the runtime refuses, and with which status."""

import dataclasses
import random
import struct
from collections.abc import Callable
from typing import Any

import pytest

from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import PROGRAM_VERSION, DType, Kernel, ProgramHeader, StepRecord
from kiwicha.errors import ToolError
from kiwicha.firmware import native
from kiwicha.program.format import checksum
from kiwicha.program.image import Program
from tests.support.programs.every_kernel import FIRMWARE_KERNELS

HEADER = {name: offset for name, _, offset in ProgramHeader.layout()}
CHECKED_FROM = HEADER["total_bytes"]
RunRaw = Callable[..., native.NativeResult]


def with_word(raw: bytes, offset: int, value: int) -> bytes:
    """Replace a word."""
    return raw[:offset] + struct.pack("<I", value & 0xFFFF_FFFF) + raw[offset + 4 :]


def signed(raw: bytes) -> bytes:
    """Make the checksum right again."""
    words = checksum(raw[CHECKED_FROM:])
    for number, word in enumerate(words):
        raw = with_word(raw, HEADER["checksum"] + 4 * number, word)
    return raw


def test_every_kernel_is_there(program: Program, run_raw: RunRaw) -> None:
    assert {step.kernel for step in program.steps} == set(FIRMWARE_KERNELS)
    assert run_raw(program.to_bytes()).status is Status.OK


def test_larger_arena_is_accepted(program: Program, run_raw: RunRaw) -> None:
    status = run_raw(program.to_bytes(), arena_bytes=program.arena_bytes + 1000).status
    assert status is Status.OK


@pytest.mark.parametrize("missing", [1, 16])
def test_smaller_arena_is_refused(program: Program, run_raw: RunRaw, missing: int) -> None:
    status = run_raw(program.to_bytes(), arena_bytes=program.arena_bytes - missing).status
    assert status is Status.ARENA_TOO_SMALL


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("magic", 0, Status.BAD_MAGIC),
        ("version", PROGRAM_VERSION + 1, Status.BAD_VERSION),
        ("config_hash", CONFIGS["baseline"].hash, Status.BAD_CONFIG),
        ("checksum", 0, Status.BAD_CHECKSUM),
        ("total_bytes", 80, Status.BAD_BOUNDS),
    ],
)
def test_unsigned_header_field(
    program: Program, run_raw: RunRaw, field: str, value: int, status: Status
) -> None:
    assert run_raw(with_word(program.to_bytes(), HEADER[field], value)).status is status


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("shift_bytes", 16, Status.BAD_BOUNDS),
        ("shift_bytes", 2**32 - 32, Status.BAD_BOUNDS),
        # No input or output fits its place.
        ("shift_bytes", 32, Status.BAD_BOUNDS),
        ("arena_bytes", 16, Status.BAD_BOUNDS),
        ("step_count", 2**28, Status.BAD_BOUNDS),
        ("steps_offset", 2, Status.BAD_BOUNDS),
        ("steps_offset", 2**31, Status.BAD_BOUNDS),
        ("layer_count", 0, Status.BAD_PARAMETERS),
        ("layer_count", 2**20, Status.BAD_BOUNDS),
        ("layers_offset", 0xFFFF_FFFC, Status.BAD_BOUNDS),
        ("input_count", 2**27, Status.BAD_BOUNDS),
        ("inputs_offset", 0xFFFF_FFF0, Status.BAD_BOUNDS),
        ("output_count", 2**27, Status.BAD_BOUNDS),
        ("outputs_offset", 1, Status.BAD_BOUNDS),
        ("names_offset", 0xFFFF_FFF0, Status.BAD_BOUNDS),
        ("names_bytes", 1, Status.BAD_BOUNDS),
        ("names_bytes", 0, Status.BAD_PARAMETERS),
        ("constants_offset", 0xFFFF_FFF0, Status.BAD_BOUNDS),
        ("constants_bytes", 0xFFFF_FFF0, Status.BAD_BOUNDS),
        ("constants_bytes", 16, Status.BAD_BOUNDS),
    ],
)
def test_signed_header_field(
    program: Program, run_raw: RunRaw, field: str, value: int, status: Status
) -> None:
    raw = signed(with_word(program.to_bytes(), HEADER[field], value))
    options = {"arena_bytes": program.arena_bytes}
    assert run_raw(raw, **options).status is status


@pytest.mark.parametrize(
    "size", [0, 3, ProgramHeader.size_bytes() - 1, ProgramHeader.size_bytes(), 400]
)
def test_truncated_program(program: Program, run_raw: RunRaw, size: int) -> None:
    status = run_raw(program.to_bytes()[:size], arena_bytes=64).status
    is_short = size < ProgramHeader.size_bytes()
    assert status is (Status.BAD_MAGIC if is_short else Status.BAD_BOUNDS)


def test_appended_bytes(program: Program, run_raw: RunRaw) -> None:
    assert run_raw(program.to_bytes() + bytes(16)).status is Status.BAD_BOUNDS


@pytest.mark.parametrize("seed", range(10))
def test_flipped_bit(program: Program, run_raw: RunRaw, seed: int) -> None:
    raw = bytearray(program.to_bytes())
    rng = random.Random(seed)
    raw[rng.randrange(CHECKED_FROM + 4, len(raw))] ^= 1 << rng.randrange(8)
    # The size of the arena may have been hit, which the host allocates.
    status = run_raw(bytes(raw), arena_bytes=program.arena_bytes).status
    assert status is Status.BAD_CHECKSUM


def test_exchanged_words(program: Program, run_raw: RunRaw) -> None:
    raw = program.to_bytes()
    raw = raw[:-32] + raw[-16:] + raw[-32:-16] if raw[-32:-16] != raw[-16:] else raw
    head, tail = raw[:-160], raw[-160:]
    assert tail[:16] != tail[16:32]
    status = run_raw(head + tail[16:32] + tail[:16] + tail[32:]).status
    assert status is Status.BAD_CHECKSUM


@pytest.mark.parametrize("config", sorted(CONFIGS))
def test_other_configuration(program: Program, run_raw: RunRaw, config: str) -> None:
    other = next(name for name in CONFIGS if name != config)
    changed = dataclasses.replace(program, config_hash=CONFIGS[config].hash, steps=())
    assert run_raw(changed.to_bytes(), config).status is Status.OK
    assert run_raw(changed.to_bytes(), other).status is Status.BAD_CONFIG


def test_baseline_has_no_custom_instruction(program: Program, run_raw: RunRaw) -> None:
    step = next(step for step in program.steps if step.kernel is Kernel.SIMD_CONV)
    baseline = CONFIGS["baseline"].hash
    changed = dataclasses.replace(program, config_hash=baseline, steps=(step,))
    assert run_raw(changed.to_bytes(), "baseline").status is Status.BAD_KERNEL


def step_offset(program: Program, raw: bytes, kernel: Kernel) -> int:
    """Find the record of the step with this kernel."""
    number = [step.kernel for step in program.steps].index(kernel)
    (offset,) = struct.unpack_from("<I", raw, HEADER["steps_offset"])
    return int(offset) + number * StepRecord.size_bytes()


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("kernel", 0, Status.BAD_KERNEL),
        ("kernel", 63, Status.BAD_KERNEL),
        ("kernel", 0xFFFF, Status.BAD_KERNEL),
        ("params_offset", 0, Status.BAD_BOUNDS),
        ("params_offset", 0xFFFF_FFF0, Status.BAD_BOUNDS),
        ("params_bytes", 0, Status.BAD_PARAMETERS),
        ("params_bytes", 140, Status.BAD_PARAMETERS),
    ],
)
def test_step_record(
    program: Program, run_raw: RunRaw, field: str, value: int, status: Status
) -> None:
    raw = program.to_bytes()
    fields = {name: offset for name, _, offset in StepRecord.layout()}
    offset = step_offset(program, raw, Kernel.SIMD_CONV) + fields[field]
    result = run_raw(signed(with_word(raw, offset, value)))
    assert result.status is status
    number = [step.kernel for step in program.steps].index(Kernel.SIMD_CONV)
    assert f"step {number}\n" in result.log


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("ref", Ref(2**31 - 64, 36), Status.BAD_BOUNDS),
        ("ref", Ref(2, 36), Status.BAD_BOUNDS),
        ("ref", Ref(0, 35), Status.BAD_PARAMETERS),
        ("ref", Ref(0, 36, True), Status.BAD_BOUNDS),
        ("shape", (1, 3, 3, 5), Status.BAD_PARAMETERS),
        ("shape", (2**16, 2**16, 36), Status.BAD_PARAMETERS),
        ("dtype", DType.INT32, Status.BAD_PARAMETERS),
    ],
)
@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_bad_tensor(
    program: Program, run_raw: RunRaw, kind: str, field: str, value: Any, status: Status
) -> None:
    tensor = dataclasses.replace(program.inputs[0], **{field: value})
    changed = dataclasses.replace(program, **{kind: (tensor,)})
    assert run_raw(changed.to_bytes()).status is status


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Replace one to three words after the magic, mostly where decisions are made."""
    interesting = [0, 1, 2, 3, 4, 255, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1]
    for _ in range(rng.randint(1, 3)):
        limit = len(raw) if rng.random() < 0.3 else 4800
        offset = rng.randrange(CHECKED_FROM, limit) & ~3
        (old,) = struct.unpack_from("<I", raw, offset)
        value = rng.choice([
            rng.choice(interesting),
            old ^ 1 << rng.randrange(32),
            old + rng.choice([-1, 1, 4]),
        ])
        raw = with_word(raw, offset, value)
    return signed(raw)


@pytest.mark.parametrize("seed", range(150))
def test_mutated_program_does_no_harm(program: Program, run_raw: RunRaw, seed: int) -> None:
    """Whatever the bytes say, no sanitizer speaks and the end comes."""
    raw = mutated(program.to_bytes(), random.Random(seed))
    try:
        run_raw(raw, arena_bytes=program.arena_bytes, timeout_seconds=20)
    except ToolError as error:
        # Another number or size of inputs or outputs: the host's program says so.
        if "not 64:" not in str(error):
            raise
