"""The reference executor's interface: what it gives back and what it refuses."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.contract import configs
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel, Where
from kiwicha.errors import ProgramError, UsageError
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.elementwise import Elementwise
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Layer, Step
from kiwicha.sim.reference import executor as reference
from tests.support.programs.steps import whole_copy

SHAPE = (1, 2, 3)
A, B, C, D = (Ref(16 * k, 6) for k in range(4))
ONE = 2**30, 1
"""Multiplier and shift of one."""


def tensor(name: str, ref: Ref, dtype: DType = DType.INT8) -> IoTensor:
    return IoTensor(name, ref, dtype, SHAPE, 0.5, 3)


def add(a: Ref, b: Ref, output: Ref) -> Step:
    """Give a step that adds two tensors, nothing scaled."""
    strides = (0, 0, 0, 6, 3, 1)
    params = Elementwise(
        a, b, output, (1, 1, 1, *SHAPE), strides, strides, 0, 0, 0, 0, *ONE, *ONE, *ONE, -128, 127
    )
    return Step(Kernel.ADD, 0, params)


def move(source: Ref, target: Ref) -> Step:
    return Step(Kernel.COPY, 0, whole_copy(source, target))


def program(*steps: Step, constants: bytes = b"", **changes: Any) -> Program:
    whole = Program(
        config_hash=configs.CONFIGS["baseline"].hash,
        arena_bytes=64,
        inputs=(tensor("left", A), tensor("right", B)),
        outputs=(tensor("sum", C),),
        layers=(Layer(0, "ADD", SHAPE, 0, Where.CPU),),
        steps=steps or (add(A, B, C),),
        constants=constants,
    )
    return dataclasses.replace(whole, **changes)


LEFT = np.arange(6, dtype=np.int8).reshape(SHAPE)
RIGHT = np.full(SHAPE, -3, np.int8)


@pytest.mark.parametrize(
    "left", [LEFT, LEFT.reshape(-1), LEFT.tobytes(), bytearray(LEFT.tobytes()), LEFT[::1]]
)
def test_inputs_are_arrays_or_bytes(left: Any) -> None:
    (output,) = reference.run(program(), [left, RIGHT])
    assert (output.dtype, output.shape) == (np.int8, SHAPE)
    np.testing.assert_array_equal(output, LEFT - 3)


def test_input_need_not_be_contiguous() -> None:
    left = np.asfortranarray(LEFT)
    (output,) = reference.run(program(), [left, RIGHT[:, ::-1]])
    np.testing.assert_array_equal(output, LEFT - 3)


def test_int32_tensors() -> None:
    values = np.array([[[1, -(2**31), 3], [2**31 - 1, 5, 6]]], np.int32)
    wide = Ref(0, 24), Ref(32, 24)
    copy = program(
        move(*wide),
        inputs=(tensor("in", wide[0], DType.INT32),),
        outputs=(tensor("out", wide[1], DType.INT32),),
    )
    (output,) = reference.run(copy, [values])
    assert output.dtype == np.int32
    np.testing.assert_array_equal(output, values)


def test_inputs_are_not_changed_and_not_shared() -> None:
    kept = LEFT.copy()
    (output,) = reference.run(program(add(A, B, A), outputs=(tensor("sum", A),)), [kept, RIGHT])
    np.testing.assert_array_equal(output, LEFT - 3)
    np.testing.assert_array_equal(kept, LEFT)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "number of inputs must be 2 ('left', 'right'), not 0"),
        ([LEFT] * 3, "number of inputs must be 2 ('left', 'right'), not 3"),
        ([b"12345", RIGHT], "input 0 'left' must be int8 [1, 2, 3], 6 bytes, not 5 bytes"),
        ([LEFT, b""], "input 1 'right' must be int8 [1, 2, 3], 6 bytes, not 0 bytes"),
        (
            [LEFT, RIGHT.astype(np.uint8)],
            "input 1 'right' must be int8 [1, 2, 3], 6 bytes, not uint8 [1, 2, 3], 6 bytes",
        ),
        (
            [LEFT, RIGHT.astype(np.float32)],
            "input 1 'right' must be int8 [1, 2, 3], 6 bytes, not float32 [1, 2, 3], 24 bytes",
        ),
        (
            [LEFT.reshape(1, 3, 2), RIGHT],
            "input 0 'left' must be int8 [1, 2, 3], 6 bytes, not int8 [1, 3, 2], 6 bytes",
        ),
        (
            [LEFT[:, :1], RIGHT],
            "input 0 'left' must be int8 [1, 2, 3], 6 bytes, not int8 [1, 1, 3], 3 bytes",
        ),
    ],
)
def test_wrong_inputs(inputs: list[Any], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        reference.run(program(), inputs)
    assert str(caught.value) == message


def test_trace_and_observer_give_what_each_step_wrote() -> None:
    two = program(add(A, B, C), add(C, B, D), outputs=(tensor("sum", D),))
    first, second = reference.trace(two, [LEFT, RIGHT])
    np.testing.assert_array_equal(first.reshape(SHAPE), LEFT - 3)
    np.testing.assert_array_equal(second.reshape(SHAPE), LEFT - 6)
    seen = []
    reference.run(two, [LEFT, RIGHT], lambda *arguments: seen.append(arguments[:2]))
    assert seen == list(enumerate(two.steps))


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([add(A, D, C)], r"step 0 \(ADD\): a tensor must be written before it is read"),
        ([add(A, B, C), add(A, B, Ref(60, 6))], r"step 1 \(ADD\): a tensor must lie inside the 64"),
        ([add(A, Ref(62, 6), C)], r"a tensor must lie inside the 64 bytes of the arena"),
        ([add(A, Ref(0, 6, is_constant=True), C)], r"inside the 4 bytes of the constants"),
        ([add(A, B, Ref(0, 6, is_constant=True))], r"a result must lie in the arena"),
        ([add(A, Ref(16, 5), C)], r"a tensor of 6 bytes must fit its reference"),
        ([add(A, B, Ref(32, 5))], r"a tensor of 6 bytes must fit its reference"),
        ([add(A, B, Ref(2, 6))], r"output must not overlap input_1"),
        ([add(A, B, Ref(14, 6))], r"output must not overlap input_2"),
        ([move(A, A)], r"step 0 \(COPY\): output must not overlap input"),
        ([move(A, Ref(32, 7))], r"a reference must hold what is touched"),
        (
            [dataclasses.replace(add(A, B, C), kernel=Kernel.CONV)],
            r"parameters must be those of the kernel",
        ),
    ],
)
def test_wrong_steps(steps: list[Step], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        reference.run(program(*steps, constants=b"1234"), [LEFT, RIGHT])


def test_output_must_be_written() -> None:
    with pytest.raises(ProgramError, match="must be written before it is read"):
        reference.run(program(add(A, B, C), outputs=(tensor("sum", D),)), [LEFT, RIGHT])


def test_scratch_memory_is_spoiled() -> None:
    """A plan that keeps a tensor where a kernel works would run in numpy and fail on hardware."""
    scale = np.array([*[2**30] * 4, *[1] * 4], np.int32).tobytes()
    convolution = Conv(
        input=A,
        weights=Ref(0, 16, is_constant=True),
        bias=Ref(),
        multiplier=Ref(16, 16, is_constant=True),
        shift=Ref(32, 16, is_constant=True),
        output=Ref(32, 6),
        scratch=Ref(48, 8),
        **dict.fromkeys(("batches", "input_width", "output_width", "input_channels"), 1),
        **dict.fromkeys(("kernel_height", "kernel_width", "stride_height", "stride_width"), 1),
        **dict.fromkeys(("dilation_height", "dilation_width", "output_channels"), 1),
        **dict.fromkeys(("pad_top", "pad_left", "input_offset", "output_offset"), 0),
        weight_offset=0,
        input_height=6,
        output_height=6,
        depth_multiplier=1,
        tile_pixels=4,
        activation_min=-128,
        activation_max=127,
    )
    weights = bytes([1] + [0] * 15)
    step = Step(Kernel.SIMD_CONV, 0, convolution)
    whole = program(move(B, D), step, add(C, D, A), constants=weights + scale)
    with pytest.raises(ProgramError, match=r"step 2 \(ADD\): .* written before it is read"):
        reference.run(whole, [LEFT, RIGHT])
    moved = dataclasses.replace(convolution, scratch=Ref(56, 8))
    whole = dataclasses.replace(
        whole, steps=(move(B, D), Step(Kernel.SIMD_CONV, 0, moved), add(C, D, A))
    )
    *_, third = reference.trace(whole, [LEFT, RIGHT])
    np.testing.assert_array_equal(third.reshape(SHAPE), LEFT - 3)
    overlapping = dataclasses.replace(convolution, scratch=Ref(4, 8))
    whole = dataclasses.replace(whole, steps=(Step(Kernel.SIMD_CONV, 0, overlapping),))
    with pytest.raises(ProgramError, match="scratch must not overlap input"):
        reference.run(whole, [LEFT, RIGHT])
