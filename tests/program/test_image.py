"""A Program's stored form: there and back again, and every damage refused."""

import dataclasses
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kiwicha.contract import configs
from kiwicha.contract.layout import Ref
from kiwicha.contract.memories import SDR_HALF_RATE
from kiwicha.contract.program import (
    MAX_RANK,
    DType,
    IoRecord,
    Kernel,
    LayerRecord,
    ProgramHeader,
    StateRecord,
    StepRecord,
    Where,
)
from kiwicha.errors import ProgramError
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.kernels.softmax import Softmax
from kiwicha.program.format import checksum
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Layer, StateTensor, Step
from tests.support.programs.steps import whole_copy

U32 = st.integers(0, 2**32 - 1)
I32 = st.integers(-(2**31), 2**31 - 1)
CHECKSUM_AT, CHECKED_FROM = 12, 20


@st.composite
def refs(draw: Any, arena_bytes: int, constants_bytes: int) -> Ref:
    is_constant = draw(st.booleans())
    size = constants_bytes if is_constant else arena_bytes
    offset = draw(st.integers(0, size))
    return Ref(offset, draw(st.integers(0, size - offset)), is_constant)


@st.composite
def steps(draw: Any, layers: int, arena_bytes: int, constants_bytes: int) -> Step:
    kernel = draw(st.sampled_from(Kernel))
    numbers = {
        "u8": st.integers(0, 255),
        "u16": st.integers(0, 2**16 - 1),
        "u32": U32,
        "i32": I32,
        "f32": st.floats(allow_nan=False, width=32),
        "ref": refs(arena_bytes, constants_bytes),
    }
    kind = KERNEL_PARAMS[kernel]
    values = {}
    for name, field, _ in kind.layout():
        items = draw(st.tuples(*[numbers[field.base]] * field.count))
        values[name] = items if field.count > 1 else items[0]
    return Step(kernel, draw(st.integers(0, layers - 1)), kind(**values))


@st.composite
def io_tensors(draw: Any, arena_bytes: int) -> IoTensor:
    dtype = draw(st.sampled_from(DType))
    shape = draw(st.sampled_from([(), (1,), (0, 7), (1, 2, 3), (2, 1, 1, 1, 2, 1)]))
    size = dtype.size_bytes
    for dimension in shape:
        size *= dimension
    offset = draw(st.integers(0, arena_bytes - size))
    scale = draw(st.floats(0, 1e6, width=32))
    return IoTensor(draw(NAMES), Ref(offset, size), dtype, shape, scale, draw(I32))


NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@st.composite
def programs(draw: Any) -> Program:
    arena_bytes = draw(st.integers(64, 2**31 - 1))
    constants = draw(st.binary(max_size=50))
    layers = draw(
        st.lists(
            st.builds(
                Layer,
                U32,
                NAMES,
                st.lists(U32, max_size=MAX_RANK).map(tuple),
                st.integers(0, 2**64 - 1),
                st.sampled_from(Where),
            ),
            min_size=1,
            max_size=3,
        )
    )
    some_steps = st.lists(steps(len(layers), arena_bytes, len(constants)), max_size=3)
    some_tensors = st.lists(io_tensors(arena_bytes), max_size=2).map(tuple)
    return Program(
        config_hash=draw(st.sampled_from([config.hash for config in configs.CONFIGS.values()])),
        arena_bytes=arena_bytes,
        inputs=draw(some_tensors),
        outputs=draw(some_tensors),
        layers=tuple(layers),
        steps=tuple(draw(some_steps)),
        constants=constants,
    )


@given(programs())
def test_round_trip_is_exact(program: Program) -> None:
    raw = program.to_bytes()
    assert len(raw) % 4 == 0
    restored = Program.from_bytes(raw)
    assert restored == program
    assert restored.to_bytes() == raw
    assert restored.config in configs.CONFIGS.values()


IN, OUT = Ref(0, 6), Ref(16, 6)
SMALL = Program(
    config_hash=configs.CONFIGS["simd"].hash,
    arena_bytes=32,
    inputs=(IoTensor("x", IN, DType.INT8, (2, 3), 0.5, -3),),
    outputs=(IoTensor("y", OUT, DType.INT8, (6,), 0.25, 4),),
    layers=(
        Layer(0, "RESHAPE", (6,), 0, Where.CPU),
        Layer(1, "SOFTMAX", (6,), 6, Where.CPU),
    ),
    steps=(
        Step(Kernel.COPY, 0, whole_copy(IN, OUT)),
        Step(
            Kernel.SOFTMAX,
            1,
            Softmax(IN, OUT, Ref(5, 7, is_constant=True), 1, 6, -128, Ref()),
        ),
    ),
    constants=b"constants...",
)
STATEFUL = dataclasses.replace(
    SMALL, states=(StateTensor("kept", Ref(16, 4), Ref(8, 4, is_constant=True)),)
)
RAW = SMALL.to_bytes()
HEADER = ProgramHeader.unpack(RAW)


def sealed(raw: bytes | bytearray) -> bytes:
    """Give the bytes a right checksum."""
    words = struct.pack("<II", *checksum(bytes(raw[CHECKED_FROM:])))
    return bytes(raw[:CHECKSUM_AT]) + words + bytes(raw[CHECKED_FROM:])


def test_the_checksum_is_the_documented_sums() -> None:
    words = struct.unpack(f"<{(len(RAW) - CHECKED_FROM) // 4}I", RAW[CHECKED_FROM:])
    prefix_sums = [sum(words[: k + 1]) for k in range(len(words))]
    assert checksum(RAW[CHECKED_FROM:]) == (sum(words) % 2**32, sum(prefix_sums) % 2**32)
    assert HEADER.checksum == checksum(RAW[CHECKED_FROM:])


@pytest.mark.parametrize("count", [0, 1, 7, 2**16 - 1, 2**16, 2**16 + 1, 2**17 + 5])
def test_checksums_of_any_length(count: int) -> None:
    words = np.random.default_rng(count).integers(0, 2**32, count, np.uint32)
    words[-1:] |= 1
    sums = np.cumsum(words, dtype=np.uint64)
    expected = int(words.sum(dtype=np.uint64)) % 2**32, sum((sums % 2**32).tolist()) % 2**32
    assert checksum(words.astype("<u4").tobytes()) == expected


def test_any_changed_bit_is_refused() -> None:
    for position in range(8 * len(RAW)):
        damaged = bytearray(RAW)
        damaged[position // 8] ^= 1 << position % 8
        with pytest.raises(ProgramError):
            Program.from_bytes(bytes(damaged))


def test_every_bit_of_work_is_stored() -> None:
    for macs in (2**31, 2**32 - 1, 2**32, 2**64 - 1):
        layers = (dataclasses.replace(SMALL.layers[0], macs=macs), SMALL.layers[1])
        program = dataclasses.replace(SMALL, layers=layers)
        assert Program.from_bytes(program.to_bytes()) == program


@pytest.mark.parametrize("count", [0, 1, 2, 5, 9])
def test_each_table_has_room_for_its_records(count: int) -> None:
    """And all lie one behind the other, from multiples of 16 on."""
    parts = {name: getattr(STATEFUL, name)[:1] for name in ("inputs", "outputs", "states")}
    many = {name: part * count for name, part in parts.items()}
    steps, layers = STATEFUL.steps * count, STATEFUL.layers * max(count, 1)
    program = dataclasses.replace(STATEFUL, steps=steps, layers=layers, **many)
    raw = program.to_bytes()
    assert Program.from_bytes(raw) == program
    found = ProgramHeader.unpack(raw)
    ends = [ProgramHeader.size_bytes()]
    for offset, size in (
        (found.steps_offset, found.step_count * StepRecord.size_bytes()),
        (found.layers_offset, found.layer_count * LayerRecord.size_bytes()),
        (found.inputs_offset, found.input_count * IoRecord.size_bytes()),
        (found.outputs_offset, found.output_count * IoRecord.size_bytes()),
        (found.states_offset, found.state_count * StateRecord.size_bytes()),
        (found.names_offset, found.names_bytes),
        (found.constants_offset, found.constants_bytes),
    ):
        assert offset == -(-ends[-1] // 16) * 16
        ends.append(offset + size)
    assert len(raw) == found.total_bytes == -(-ends[-1] // 16) * 16


def test_the_memory_is_not_stored() -> None:
    """Its configuration has it; with any memory it is the same Program."""
    other = dataclasses.replace(SMALL, memory=SDR_HALF_RATE)
    assert other.config.memory == SDR_HALF_RATE
    assert other == SMALL
    assert other.to_bytes() == RAW
    assert repr(other) == repr(SMALL)


def test_programs_at_the_limits_of_their_tables() -> None:
    # A table of nothing may begin where the bytes end.
    assert Program.from_bytes(header(states_offset=len(RAW))) == SMALL
    # A name of no letters, the first of all; and no constants.
    nameless = dataclasses.replace(
        SMALL,
        layers=(dataclasses.replace(SMALL.layers[0], operator=""),),
        steps=SMALL.steps[:1],
        constants=b"",
    )
    assert Program.from_bytes(nameless.to_bytes()) == nameless
    # Half the arena for every second inference.
    halved = dataclasses.replace(SMALL, arena_bytes=64, shift_bytes=32)
    assert Program.from_bytes(halved.to_bytes()) == halved


def test_constants_count_from_the_first_byte_of_the_stored_form() -> None:
    at = StepRecord.unpack(RAW[HEADER.steps_offset + StepRecord.size_bytes() :]).params_offset
    stored = Softmax.unpack(RAW[at:])
    params = SMALL.steps[1].params
    assert isinstance(params, Softmax)
    first = RAW.index(SMALL.constants)
    moved = dataclasses.replace(params.exponentials, offset=5 + first)
    assert stored == dataclasses.replace(params, exponentials=moved)


def test_tensors_may_end_with_the_arena() -> None:
    last = IoTensor("y", Ref(16, 16), DType.INT8, (16,), 0.25, 4)
    # Its first value begins the constants.
    state = StateTensor("kept", Ref(28, 4), Ref(0, 4, is_constant=True))
    program = dataclasses.replace(SMALL, outputs=(last,), states=(state,))
    assert Program.from_bytes(program.to_bytes()) == program


def test_layers_of_jobs_are_not_stored() -> None:
    """A step that is read back is equal to the one of the compiler."""
    named = dataclasses.replace(SMALL.steps[0], job_layers=(1,))
    assert named == SMALL.steps[0]
    assert repr(named) == repr(SMALL.steps[0])


def test_exchanged_words_are_refused() -> None:
    a, b = HEADER.layers_offset, HEADER.names_offset
    assert RAW[a : a + 4] != RAW[b : b + 4]
    damaged = bytearray(RAW)
    damaged[a : a + 4], damaged[b : b + 4] = RAW[b : b + 4], RAW[a : a + 4]
    with pytest.raises(ProgramError, match="bytes have changed"):
        Program.from_bytes(bytes(damaged))


def test_any_other_length_is_refused() -> None:
    for size in range(len(RAW)):
        with pytest.raises(ProgramError):
            Program.from_bytes(RAW[:size])
    for more in (b"\0", b"\0" * 4, b"\0" * 16):
        with pytest.raises(ProgramError, match="points outside"):
            Program.from_bytes(RAW + more)


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(raw: bytes) -> None:
    with pytest.raises(ProgramError, match="not a Program"):
        Program.from_bytes(raw)


EXTREMES = st.sampled_from([0, 1, 2, 4, 15, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 16, 2**32 - 1])


@given(st.integers(CHECKED_FROM // 4, len(RAW) // 4 - 1), U32 | EXTREMES)
@example(HEADER.names_offset // 4, 0xFFFF_FFFF)
def test_a_changed_word_under_a_right_checksum_gives_a_sound_program_or_an_error(
    word: int, value: int
) -> None:
    damaged = bytearray(RAW)
    struct.pack_into("<I", damaged, 4 * word, value)
    try:
        program = Program.from_bytes(sealed(damaged))
    except ProgramError:
        return
    restored = Program.from_bytes(program.to_bytes())
    # NaN is a legal scale, and differs from itself.
    assert restored == program or any(t.scale != t.scale for t in program.inputs + program.outputs)


def header(**changes: Any) -> bytes:
    return sealed(dataclasses.replace(HEADER, **changes).pack() + RAW[HEADER.size_bytes() :])


def record(kind: Any, offset: int, **changes: Any) -> bytes:
    changed = dataclasses.replace(kind.unpack(RAW[offset:]), **changes).pack()
    return sealed(RAW[:offset] + changed + RAW[offset + len(changed) :])


def step(**changes: Any) -> bytes:
    return record(StepRecord, HEADER.steps_offset, **changes)


def layer(**changes: Any) -> bytes:
    return record(LayerRecord, HEADER.layers_offset, **changes)


def tensor(**changes: Any) -> bytes:
    return record(IoRecord, HEADER.inputs_offset, **changes)


def softmax(**changes: Any) -> bytes:
    size = StepRecord.size_bytes()
    at = StepRecord.unpack(RAW[HEADER.steps_offset + size :]).params_offset
    return record(Softmax, at, **changes)


def names(raw: bytes) -> bytes:
    return sealed(RAW[: HEADER.names_offset] + raw + RAW[HEADER.names_offset + len(raw) :])


ALL_NAMES = b"RESHAPE\0SOFTMAX\0x\0y\0"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (header(magic=1), "not a Program"),
        (header(version=2), "another format version"),
        (header(config_hash=1), "another configuration"),
        (header(checksum=(0, 0))[:12] + bytes(8) + RAW[20:], "bytes have changed"),
        (header(total_bytes=len(RAW) + 16), f"{len(RAW)} bytes, not {len(RAW) + 16}"),
        (header(shift_bytes=16), "shift must be a multiple of 32 and half the 32 bytes"),
        (header(shift_bytes=32), "shift must be a multiple of 32 and half the 32 bytes"),
        (header(step_count=2**32 - 1), "StepRecord at"),
        (header(layer_count=2**20), "LayerRecord at"),
        (header(inputs_offset=2**32 - 16), "IoRecord at"),
        (header(output_count=99), "IoRecord at"),
        (header(names_bytes=len(RAW)), "names and constants must lie inside"),
        (header(constants_bytes=len(RAW)), "names and constants must lie inside"),
        (header(constants_bytes=16), "Copy must have|Softmax must have"),
        (header(constants_offset=len(RAW), constants_bytes=0), "layer and parameters of a step"),
        (header(arena_bytes=21), "Copy.output must lie inside the 21 bytes of the arena"),
        (step(kernel=999), "999 is not a valid Kernel"),
        (step(layer=2), "layer and parameters of a step must exist"),
        (step(params_bytes=12), "Copy must have 96 bytes"),
        (step(params_offset=2**32 - 4), "Copy must have 96 bytes"),
        (step(params_offset=0), "layer and parameters of a step must exist"),
        (step(reserved=1), "reserved field must be 0"),
        (layer(name_offset=10**6), "a name at 1000000 must end inside the 20 bytes of the names"),
        (layer(where=9), "9 is not a valid Where"),
        (layer(rank=7), "rank must be 0 to 6, not 7"),
        (layer(rank=0), "unused dimensions must be 0"),
        (layer(reserved=1), "reserved field must be 0"),
        (tensor(dtype=0), "0 is not a valid DType"),
        (tensor(rank=7), "rank must be 0 to 6, not 7"),
        (tensor(tensor=Ref(0, 5)), "'x' must be 6 bytes inside the 32 bytes of the arena"),
        (tensor(tensor=Ref(27, 6)), "'x' must be 6 bytes inside the 32 bytes of the arena"),
        (tensor(tensor=Ref(0, 6, is_constant=True)), "'x' must be 6 bytes inside"),
        (tensor(shape=(2**31, 2**31, 0, 0, 0, 0)), "'x' must be 4611686018427387904 bytes"),
        (softmax(input=Ref(2**31 - 1, 2**32 - 1)), "Softmax.input must lie inside the 32 bytes"),
        (softmax(exponentials=Ref(0, 4, is_constant=True)), "must point at a constant"),
        (
            softmax(exponentials=Ref(len(RAW) - 4, 5, is_constant=True)),
            "Softmax.exponentials must lie inside the 12 bytes of the constants",
        ),
        (names(ALL_NAMES[:-1] + b"y"), "a name at 18 must end inside the 20 bytes of the names"),
        (names(b"\xff"), "can't decode byte 0xff"),
    ],
)
def test_contradictions_are_refused(raw: bytes, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        Program.from_bytes(raw)


def test_inputs_and_outputs_lie_before_their_doubles() -> None:
    program = dataclasses.replace(SMALL, arena_bytes=96, shift_bytes=32)
    assert (program.window_bytes, program.inner_bytes) == (64, 0)
    assert Program.from_bytes(program.to_bytes()) == program
    moved = dataclasses.replace(SMALL.outputs[0], ref=Ref(48, 6))
    wrong = dataclasses.replace(program, outputs=(moved,))
    with pytest.raises(ProgramError, match="'y' must be 6 bytes inside the 32 bytes of the arena"):
        Program.from_bytes(wrong.to_bytes())


def test_states_are_stored_with_their_first_values() -> None:
    program = Program.from_bytes(STATEFUL.to_bytes())
    assert program == STATEFUL
    assert program.first_values() == [STATEFUL.constants[8:12]]
    other = program.with_first_values([b"abcd"])
    assert other.first_values() == [b"abcd"]
    assert other.states[0].first.offset == 16
    assert other.with_first_values([b"efgh"]).states[0].first.offset == 32
    assert Program.from_bytes(other.to_bytes()) == other
    filled = dataclasses.replace(STATEFUL.states[0], first=Ref(1, 1, is_constant=True))
    program = dataclasses.replace(STATEFUL, states=(filled,))
    assert Program.from_bytes(program.to_bytes()) == program
    with pytest.raises(ValueError, match="shorter"):
        program.with_first_values([])
    assert program.first_values() == [STATEFUL.constants[1:2] * 4]


@pytest.mark.parametrize(
    ("ref", "first", "message"),
    [
        (Ref(30, 4), Ref(8, 4, is_constant=True), "StateRecord.tensor must lie inside the 32"),
        (Ref(16, 4), Ref(9, 4, is_constant=True), "StateRecord.first must lie inside the 12"),
        (Ref(16, 4), Ref(8, 3, is_constant=True), "state 'kept' must lie in the arena"),
        (Ref(16, 4), Ref(8, 2, is_constant=True), "state 'kept' must lie in the arena"),
        (Ref(16, 4), Ref(8, 4), "state 'kept' must lie in the arena"),
        (Ref(4, 4, is_constant=True), Ref(8, 4, is_constant=True), "state 'kept' must lie in the"),
        (Ref(16, 0), Ref(8, 1, is_constant=True), "state 'kept' must lie in the arena"),
    ],
)
def test_states_that_contradict_themselves_are_refused(ref: Ref, first: Ref, message: str) -> None:
    wrong = dataclasses.replace(STATEFUL, states=(StateTensor("kept", ref, first),))
    with pytest.raises(ProgramError, match=message):
        Program.from_bytes(wrong.to_bytes())


def test_states_stay_where_they_are() -> None:
    """Only places of inputs and outputs move: an inference works with copies behind them."""
    program = dataclasses.replace(STATEFUL, arena_bytes=96, shift_bytes=32)
    assert (program.window_bytes, program.inner_bytes) == (96, 64)
    assert Program.from_bytes(program.to_bytes()) == program
    with pytest.raises(ProgramError, match="32 and a third of the 64 bytes of the arena"):
        Program.from_bytes(dataclasses.replace(program, arena_bytes=64).to_bytes())


def test_the_cases_above_differ_from_a_good_program_in_one_field() -> None:
    for unchanged in (header(), step(), layer(), tensor(), softmax(), names(ALL_NAMES)):
        assert unchanged == RAW


def test_config_of_an_unknown_hash() -> None:
    with pytest.raises(
        ProgramError, match=r"must be one of baseline \(.*\), simd \(.*not 00000001"
    ):
        _ = dataclasses.replace(SMALL, config_hash=1).config


@pytest.mark.parametrize(
    "changes",
    [
        {"arena_bytes": -1},
        {"config_hash": 2**32},
        {"layers": (Layer(0, "A\0B", (), 0, Where.CPU),)},
        {"layers": (Layer(0, "ADD", (1,) * 7, 0, Where.CPU),)},
        {"steps": (Step(Kernel.COPY, 2**16, whole_copy(IN, OUT)),)},
    ],
)
def test_what_cannot_be_stored_is_refused(changes: Any) -> None:
    with pytest.raises(ValueError, match=r"zero byte|must have 6 items|out of range|requires"):
        dataclasses.replace(SMALL, **changes).to_bytes()
