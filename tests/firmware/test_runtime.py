"""What the runtime refuses, and with which status."""

import dataclasses
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.steps import ConvCase, ProgramBuilder, int8s, padded_shape

from kiwicha import isa, numerics
from kiwicha.errors import ToolError
from kiwicha.firmware import native
from kiwicha.isa import CONFIGS, Conv, Elementwise, Kernel, Mean, Move, Pad, Pool, Softmax, Status
from kiwicha.layout import Ref
from kiwicha.program import Program, checksum

HEADER = {name: offset for name, _, offset in isa.ProgramHeader.layout()}
CHECKED_FROM = HEADER["total_bytes"]
RunRaw = Callable[..., native.NativeResult]


def conv_case(rng: np.random.Generator, *, is_depthwise: bool = False, **sizes: int) -> ConvCase:
    """Give a small layer."""
    p: dict[str, int] = {
        "batches": 1,
        **dict.fromkeys(("input_height", "input_width", "output_height", "output_width"), 3),
        **dict.fromkeys(("input_channels", "output_channels"), 4),
        **dict.fromkeys(("kernel_height", "kernel_width"), 3),
        **dict.fromkeys(("stride_height", "stride_width", "depth_multiplier"), 1),
        **dict.fromkeys(("dilation_height", "dilation_width", "pad_top", "pad_left"), 1),
        "tile_pixels": 4,
        "input_offset": 5,
        "output_offset": -7,
        "activation_min": -128,
        "activation_max": 127,
    } | sizes
    taps = p["kernel_height"], p["kernel_width"]
    weights = (1, *taps, 4) if is_depthwise else (p["output_channels"], *taps, 4)
    return ConvCase(
        params=Conv(*[Ref()] * 7, **p),
        is_depthwise=is_depthwise,
        input=int8s(rng, (p["batches"], p["input_height"], p["input_width"], 4)),
        weights=int8s(rng, weights),
        bias=rng.integers(-999, 999, p["output_channels"]),
        multiplier=np.full(p["output_channels"], 2**30),
        shift=np.full(p["output_channels"], -6),
    )


def every_kernel() -> ProgramBuilder:
    """Build a Program with one step of every kernel."""
    rng = np.random.default_rng(0)
    builder = ProgramBuilder("simd")
    plain = conv_case(rng)
    source = builder.input(plain.input)
    ones = ("kernel_height", "kernel_width", "dilation_height", "dilation_width")
    small = {**dict.fromkeys(ones, 1), "pad_top": 0, "pad_left": 0}
    single = dict.fromkeys(("input_height", "input_width", "output_height", "output_width"), 1)
    depthwise = conv_case(rng, is_depthwise=True)
    pointwise = conv_case(rng, **small)
    connected = conv_case(rng, **small, **single, batches=9)
    for case, kernels in (
        (plain, (Kernel.CONV, Kernel.SIMD_CONV)),
        (depthwise, (Kernel.DEPTHWISE_CONV, Kernel.SIMD_DEPTHWISE_CONV)),
        (pointwise, (Kernel.SIMD_CONV_1X1,)),
        (connected, (Kernel.FULLY_CONNECTED, Kernel.SIMD_FULLY_CONNECTED)),
    ):
        for kernel in kernels:
            case.add_to(builder, kernel, source)
    pool = Pool(source, Ref(), 1, 3, 3, 4, 2, 2, 2, 2, 2, 2, 1, 1, -128, 127)
    for kernel in (Kernel.AVERAGE_POOL, Kernel.MAX_POOL, Kernel.SIMD_MAX_POOL):
        builder.step(kernel, dataclasses.replace(pool, output=builder.output((1, 2, 2, 4))))
    shape = padded_shape((3, 3, 4))
    row_major = (36, 36, 36, 12, 4, 1)
    scales = [2**30, 0] * 3
    for kernel in (Kernel.ADD, Kernel.SUB, Kernel.MUL, Kernel.SIMD_ADD):
        refs = source, source, builder.output((3, 3, 4))
        numbers = (1, 2, 3, 0 if kernel is Kernel.MUL else 20, *scales, -128, 127)
        builder.step(kernel, Elementwise(*refs, shape, row_major, row_major, *numbers))
    flags = (0, 0, 0, 1, 1, 0, 0, 0)
    builder.step(Kernel.MEAN, Mean(source, builder.output((4,)), shape, flags, 3, 4, 2**30, -3))
    margin = (0, 0, 0, 1, 2, 3)
    target = builder.output((5, 7, 10))
    builder.step(Kernel.PAD, Pad(source, target, shape, margin, margin, -9))
    table = builder.constant(numerics.softmax_exponentials(0.1, 1.0))
    builder.step(Kernel.SOFTMAX, Softmax(source, builder.output((9, 4)), table, 9, 4))
    builder.step(Kernel.MOVE, Move(source, builder.output((36,))))
    return builder


@pytest.fixture(scope="module")
def builder() -> ProgramBuilder:
    """Return a Program of all kernels, still editable."""
    return every_kernel()


@pytest.fixture(scope="module")
def program(builder: ProgramBuilder) -> Program:
    """Return a Program of all kernels."""
    return builder.program()


@pytest.fixture(scope="module")
def run_raw(executables: dict[str, Path], builder: ProgramBuilder, program: Program) -> RunRaw:
    """Return a function that runs stored Programs with the inputs of the good one."""

    def run(raw: bytes, config: str = "simd", **options: Any) -> native.NativeResult:
        outputs = len(program.outputs)
        return native.run_native(
            executables[config], raw, builder.input_bytes, outputs=outputs, **options
        )

    return run


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
    assert {step.kernel for step in program.steps} == set(Kernel)
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
        ("version", isa.PROGRAM_VERSION + 1, Status.BAD_VERSION),
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
        ("reserved", 1, Status.BAD_VERSION),
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


@pytest.mark.parametrize("size", [0, 3, 79, 80, 400])
def test_truncated_program(program: Program, run_raw: RunRaw, size: int) -> None:
    status = run_raw(program.to_bytes()[:size], arena_bytes=64).status
    assert status is (Status.BAD_MAGIC if size < 80 else Status.BAD_BOUNDS)


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
    return int(offset) + number * isa.StepRecord.size_bytes()


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("kernel", 0, Status.BAD_KERNEL),
        ("kernel", 31, Status.BAD_KERNEL),
        ("kernel", 0xFFFF, Status.BAD_KERNEL),
        ("params_offset", 0, Status.BAD_BOUNDS),
        ("params_offset", 0xFFFF_FFF0, Status.BAD_BOUNDS),
        ("params_bytes", 0, Status.BAD_PARAMETERS),
        ("params_bytes", 144, Status.BAD_PARAMETERS),
    ],
)
def test_step_record(
    program: Program, run_raw: RunRaw, field: str, value: int, status: Status
) -> None:
    raw = program.to_bytes()
    fields = {name: offset for name, _, offset in isa.StepRecord.layout()}
    offset = step_offset(program, raw, Kernel.SIMD_CONV) + fields[field]
    result = run_raw(signed(with_word(raw, offset, value)))
    assert result.status is status
    number = [step.kernel for step in program.steps].index(Kernel.SIMD_CONV)
    assert f"step {number}\n" in result.log


def parameter_changes() -> list[Any]:
    """List bad values of parameters: kernel, field, what becomes of the field, status."""
    bounds, parameters = Status.BAD_BOUNDS, Status.BAD_PARAMETERS
    convs = [kernel for kernel, kind in isa.KERNEL_PARAMS.items() if kind is Conv]
    rows: list[tuple[Kernel, str, Any, Status]] = []
    for kernel in Kernel:
        for name, kind, _ in isa.KERNEL_PARAMS[kernel].layout():
            if kind.base != "ref" or name == "scratch":
                continue
            rows += [
                (kernel, name, lambda ref: dataclasses.replace(ref, offset=2**31 - 2**20), bounds),
                (kernel, name, lambda ref: dataclasses.replace(ref, bytes=0), parameters),
                (kernel, name, lambda ref: dataclasses.replace(ref, bytes=2**32 - 1), parameters),
            ]
            if name == "output":
                rows.append((kernel, name, lambda ref: Ref(ref.offset, ref.bytes, True), bounds))
    for kernel in convs:
        for name in ("batches", "kernel_width", "stride_height", "dilation_width"):
            rows += [(kernel, name, lambda _: 0, parameters)]
        for name in ("input_height", "output_width", "input_channels", "output_channels"):
            rows += [(kernel, name, lambda _: 0, parameters)]
            rows += [(kernel, name, lambda _: 2**31, parameters)]
        for name, value in (
            ("pad_top", 2**31),
            ("input_offset", -128),
            ("input_offset", 129),
            ("output_offset", 128),
            ("activation_min", 128),
            ("activation_max", -129),
            ("depth_multiplier", 0),
        ):
            rows += [(kernel, name, lambda _, value=value: value, parameters)]
        for name in ("bias", "multiplier", "shift"):
            rows += [
                (kernel, name, lambda ref: Ref(ref.offset + 2, ref.bytes, True), bounds),
            ]
    for kernel in (Kernel.SIMD_CONV, Kernel.SIMD_CONV_1X1, Kernel.SIMD_FULLY_CONNECTED):
        for value in (0, 2, 6):
            rows.append((kernel, "tile_pixels", lambda _, value=value: value, parameters))
    rows += [
        (Kernel.SIMD_CONV, "tile_pixels", lambda _: 68, parameters),
        (Kernel.SIMD_CONV, "scratch", lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
        (Kernel.SIMD_CONV, "scratch", lambda ref: Ref(ref.offset + 2, ref.bytes), bounds),
        (Kernel.SIMD_CONV, "scratch", lambda ref: Ref(16, ref.bytes, True), bounds),
        (Kernel.SIMD_CONV, "input", lambda ref: Ref(ref.offset + 1, ref.bytes), bounds),
        (Kernel.SIMD_CONV, "shift", lambda ref: Ref(0, ref.bytes), parameters),
        (Kernel.SIMD_CONV_1X1, "stride_width", lambda _: 2, parameters),
        (Kernel.SIMD_CONV_1X1, "pad_left", lambda _: 1, parameters),
        (Kernel.FULLY_CONNECTED, "input_width", lambda _: 2, parameters),
        (Kernel.MAX_POOL, "pad_top", lambda _: 2, parameters),
        (Kernel.AVERAGE_POOL, "stride_width", lambda _: 5, parameters),
        (Kernel.AVERAGE_POOL, "kernel_height", lambda _: 0, parameters),
        (Kernel.SIMD_MAX_POOL, "channels", lambda _: 3, parameters),
        (Kernel.ADD, "left_shift", lambda _: 23, parameters),
        (Kernel.ADD, "shape", lambda _: (1, 1, 1, 0, 3, 4), parameters),
        (Kernel.ADD, "strides_1", lambda _: (0, 0, 0, 2**31, 4, 1), parameters),
        (Kernel.MUL, "output_shift", lambda _: 31, parameters),
        (Kernel.SIMD_ADD, "strides_2", lambda _: (0, 0, 0, 4, 12, 1), parameters),
        (Kernel.MEAN, "is_reduced", lambda _: (0, 0, 0, 2, 1, 0, 0, 0), parameters),
        (Kernel.MEAN, "multiplier", lambda _: -1, parameters),
        (Kernel.PAD, "before", lambda _: (0, 0, 0, 2**32 - 1, 2, 3), parameters),
        (Kernel.PAD, "value", lambda _: 128, parameters),
        (Kernel.SOFTMAX, "depth", lambda _: 4096, parameters),
        (Kernel.SOFTMAX, "exponentials", lambda r: Ref(r.offset + 4, 1020, True), parameters),
        (Kernel.MOVE, "output", lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
    ]
    return [
        pytest.param(*row, id=f"{row[0].name}-{row[1]}-{number}") for number, row in enumerate(rows)
    ]


def test_bad_parameters_are_refused(program: Program) -> None:
    """Every row of `parameter_changes`, each alone in an otherwise good Program."""
    executable = native.build_native(CONFIGS["simd"], sanitize=False)
    wrong = []
    for item in parameter_changes():
        kernel, field, change, wanted = item.values
        number = [step.kernel for step in program.steps].index(kernel)
        step = program.steps[number]
        params: Any = dataclasses.replace(
            step.params, **{field: change(getattr(step.params, field))}
        )
        changed = dataclasses.replace(program, steps=(dataclasses.replace(step, params=params),))
        status = native.run_native(executable, changed.to_bytes()).status
        # A range that is both too long and outside is refused for either.
        if status is not wanted and not (field in {"input", "output"} and status is not Status.OK):
            wrong.append((item.id, status.name))
    assert not wrong


@pytest.mark.parametrize(("table", "value"), [("multiplier", -1), ("shift", 31), ("shift", -32)])
@pytest.mark.parametrize("kernel", [Kernel.CONV, Kernel.SIMD_DEPTHWISE_CONV])
def test_bad_scale(
    program: Program, run_raw: RunRaw, kernel: Kernel, table: str, value: int
) -> None:
    step = next(step for step in program.steps if step.kernel is kernel)
    offset = getattr(step.params, table).offset + 8
    constants = with_word(program.constants, offset, value)
    changed = dataclasses.replace(program, constants=constants, steps=(step,))
    assert run_raw(changed.to_bytes()).status is Status.BAD_PARAMETERS


@pytest.mark.parametrize(("entry", "value"), [(0, 2**31 - 2), (7, -1)])
def test_bad_exponential(program: Program, run_raw: RunRaw, entry: int, value: int) -> None:
    step = next(step for step in program.steps if step.kernel is Kernel.SOFTMAX)
    assert isinstance(step.params, Softmax)
    offset = step.params.exponentials.offset + 4 * entry
    constants = with_word(program.constants, offset, value)
    changed = dataclasses.replace(program, constants=constants, steps=(step,))
    assert run_raw(changed.to_bytes()).status is Status.BAD_PARAMETERS


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [
        ("ref", Ref(2**31 - 64, 36), Status.BAD_BOUNDS),
        ("ref", Ref(2, 36), Status.BAD_BOUNDS),
        ("ref", Ref(0, 35), Status.BAD_PARAMETERS),
        ("ref", Ref(0, 36, True), Status.BAD_BOUNDS),
        ("shape", (1, 3, 3, 5), Status.BAD_PARAMETERS),
        ("shape", (2**16, 2**16, 36), Status.BAD_PARAMETERS),
        ("dtype", isa.DType.INT32, Status.BAD_PARAMETERS),
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
