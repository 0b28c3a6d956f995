"""The text of a Program: every tensor, layer, step and parameter."""

import dataclasses

from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel, Where
from kiwicha.program.image import Program
from kiwicha.program.listing import listing, note_lines, shape_text
from kiwicha.program.parts import IoTensor, Layer, StateTensor, Step
from tests.support.programs.steps import whole_copy

CONFIG = CONFIGS["simd"]
PROGRAM = Program(
    config_hash=CONFIG.hash,
    arena_bytes=96,
    inputs=(IoTensor("x", Ref(0, 32), DType.INT8, (1, 4, 8), 0.1, -3),),
    outputs=(IoTensor("y", Ref(32, 32), DType.INT8, (32,), 0.25, 4),),
    layers=(
        Layer(2, "RESHAPE", (32,), 0, Where.CPU),
        Layer(5, "CONV_2D", (), 1234, Where.NONE),
    ),
    steps=(Step(Kernel.COPY, 0, whole_copy(Ref(0, 32), Ref(32, 32))),),
    constants=bytes(16),
    states=(StateTensor("kept", Ref(64, 16), Ref(0, 1, is_constant=True)),),
)
SIZE = len(PROGRAM.to_bytes())


def test_everything_is_listed() -> None:
    assert listing(PROGRAM).splitlines() == [
        f"configuration simd ({CONFIG.hash:08x})",
        f"{SIZE} bytes, 16 of them constants; arena of 96 bytes; 1234 MACs",
        "input 0: x  int8 1x4x8  scale 0.1 zero point -3  arena[0x0..0x20] 32 bytes",
        "output 0: y  int8 32  scale 0.25 zero point 4  arena[0x20..0x40] 32 bytes",
        "state 0: kept  arena[0x40..0x50] 16 bytes, first constants[0x0..0x1] 1 bytes",
        "",
        "layer  operator           output                 MACs  where",
        f"    2  RESHAPE            32                        0  {Where.CPU.text}",
        f"    5  CONV_2D            scalar                 1234  {Where.NONE.text}",
        "",
        "step 0: COPY for layer 2 RESHAPE",
        "    input          arena[0x0..0x20] 32 bytes",
        "    output         arena[0x20..0x40] 32 bytes",
        (
            "    shape=1,1,1,1,1,1 input_strides=0,0,0,0,0,0 output_strides=0,0,0,0,0,0 "
            "input_start=0 piece_bytes=32"
        ),
    ]


def test_notes_stand_behind_the_layers() -> None:
    notes = {1: "it is odd", 0: "it is small"}
    lines = listing(PROGRAM, notes, last_step="the host sorts them").splitlines()
    place = lines.index("layer 2 RESHAPE is on the CPU: it is small")
    assert lines[place - 1].startswith("    5  CONV_2D")
    assert lines[place + 1 : place + 3] == [
        "layer 5 CONV_2D is on the CPU: it is odd",
        "the host sorts them",
    ]
    assert note_lines(PROGRAM, notes) == lines[place : place + 2]


def test_programs_of_others_are_listed() -> None:
    unknown = dataclasses.replace(PROGRAM, config_hash=0x12AB, shift_bytes=48)
    lines = listing(unknown).splitlines()
    assert lines[0] == "configuration 000012ab, unknown to this version"
    assert "; every second inference 48 further; 1234 MACs" in lines[1]
    empty = dataclasses.replace(PROGRAM.steps[0].params, input=Ref(5, 0))
    step = dataclasses.replace(PROGRAM.steps[0], params=empty)
    assert "    input          none" in listing(dataclasses.replace(PROGRAM, steps=(step,)))


def test_shapes_are_written_with_crosses() -> None:
    assert [shape_text(shape) for shape in ((), (7,), (1, 96, 96, 1))] == [
        "scalar",
        "7",
        "1x96x96x1",
    ]
