"""Which layers the engine does: one example inside each limit and one outside."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.select.legalize import legalize
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract.engine import JobFlag, JobKind
from kiwicha.contract.program import Where
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

Shape = tuple[int, ...]
VALID = 1
MAX = "MAX_POOL_2D"


def model(
    operator: str, shape: Shape, kernel: Shape, output: Shape, fill: int = 1, **options: Any
) -> bytes:
    """Give a model of one operator; ``kernel`` is the shape of its weights, if it has any."""
    builder = ModelBuilder()
    x = builder.tensor(shape, scale=0.5, zero_point=options.pop("zero_point", 0))
    y = builder.tensor(output, scale=options.pop("scale", 0.5))
    operands = [x]
    if kernel:
        values = np.full(kernel, fill, np.int8)
        operands.append(builder.tensor(kernel, scale=0.01, data=values))
    if operator == "MEAN":
        axes = np.array(options.pop("axes"), np.int32)
        operands.append(builder.tensor(axes.shape, np.int32, data=axes))
    builder.operator(operator, operands, [y], **options)
    return builder.build([x], [y])


def conv(shape: Shape, kernel: Shape, output: Shape, **options: Any) -> bytes:
    settings = {"padding": VALID, "strideH": 1, "strideW": 1} | options
    return model("CONV_2D", shape, kernel, output, **settings)


def depthwise(shape: Shape, kernel: Shape, output: Shape, **options: Any) -> bytes:
    settings = {"padding": VALID, "strideH": 1, "strideW": 1, "depthMultiplier": 1} | options
    return model("DEPTHWISE_CONV_2D", shape, kernel, output, **settings)


def pool(
    shape: Shape,
    window: tuple[int, int],
    output: Shape,
    name: str = "AVERAGE_POOL_2D",
    **options: Any,
) -> bytes:
    settings = {"padding": VALID, "strideH": 1, "strideW": 1} | options
    sizes = {"filterHeight": window[0], "filterWidth": window[1]}
    return model(name, shape, (), output, **sizes, **settings)


def mean(shape: Shape, axes: list[int], output: Shape) -> bytes:
    return model("MEAN", shape, (), output, axes=axes, keepDims=len(shape) == len(output))


CASES = {
    "group of 256 words": (conv((1, 1, 1, 2048), (8, 1, 1, 2048), (1, 1, 1, 8)), True),
    "group of 257 words": (conv((1, 1, 1, 2056), (8, 1, 1, 2056), (1, 1, 1, 8)), True),
    "kernel of 16 rows": (conv((1, 20, 9, 8), (8, 16, 8, 8), (1, 5, 2, 8)), True),
    "kernel of 256 rows": (conv((1, 300, 1, 1), (8, 256, 1, 1), (1, 45, 1, 8)), True),
    "one image": (conv((1, 4, 4, 8), (8, 1, 1, 8), (1, 4, 4, 8)), True),
    "two images": (conv((2, 4, 4, 8), (8, 3, 3, 8), (2, 2, 2, 8)), True),
    "depthwise of two images": (depthwise((2, 9, 9, 8), (1, 3, 3, 8), (2, 7, 7, 8)), True),
    "8 columns": (depthwise((1, 9, 9, 8), (1, 1, 8, 8), (1, 9, 2, 8)), True),
    "9 columns": (depthwise((1, 9, 9, 8), (1, 1, 9, 8), (1, 9, 1, 8)), True),
    "9 columns, stride 2": (depthwise((1, 9, 9, 8), (1, 1, 9, 8), (1, 9, 1, 8), strideW=2), True),
    "dilated columns": (
        depthwise((1, 9, 9, 8), (1, 1, 3, 8), (1, 9, 5, 8), dilationWFactor=2),
        True,
    ),
    "dilated rows": (
        depthwise((1, 9, 9, 8), (1, 3, 3, 8), (1, 5, 7, 8), dilationHFactor=2),
        True,
    ),
    "depth multiplier": (
        depthwise((1, 9, 9, 8), (1, 3, 3, 16), (1, 7, 7, 16), depthMultiplier=2),
        True,
    ),
    "one input channel": (
        depthwise((1, 9, 9, 1), (1, 3, 3, 16), (1, 7, 7, 16), depthMultiplier=16),
        True,
    ),
    "depthwise sums of 25 bits": (
        depthwise((1, 64, 8, 8), (1, 64, 8, 8), (1, 1, 1, 8), fill=127, zero_point=-100),
        True,
    ),
    "depthwise sums of 26 bits": (
        depthwise((1, 130, 8, 8), (1, 130, 8, 8), (1, 1, 1, 8), fill=127, zero_point=-128),
        False,
    ),
    "global pool": (pool((1, 9, 7, 8), (9, 7), (1, 1, 1, 8)), True),
    "global pool of 17 x 16": (pool((1, 17, 16, 8), (17, 16), (1, 1, 1, 8)), True),
    "global pool of 271": (pool((1, 271, 1, 8), (271, 1), (1, 1, 1, 8)), True),
    "global pool of 17 x 17": (pool((1, 17, 17, 8), (17, 17), (1, 1, 1, 8)), True),
    "global pool of 2039": (pool((1, 2039, 1, 8), (2039, 1), (1, 1, 1, 8)), True),
    "global pool of 2053": (pool((1, 2053, 1, 8), (2053, 1), (1, 1, 1, 8)), True),
    "pool with borders": (pool((1, 6, 6, 8), (3, 3), (1, 6, 6, 8), padding=0), True),
    "pool with 64 jobs": (pool((1, 9, 9, 8), (8, 8), (1, 9, 9, 8), padding=0), True),
    "pool with 72 jobs": (pool((1, 10, 9, 8), (9, 8), (1, 10, 9, 8), padding=0), True),
    "pool with a window of 9 columns": (pool((1, 10, 12, 8), (3, 9), (1, 8, 4, 8)), True),
    "maxima of 255 columns": (pool((1, 9, 260, 8), (9, 255), (1, 1, 6, 8), name=MAX), True),
    "maxima of 256 columns": (pool((1, 9, 260, 8), (9, 256), (1, 1, 5, 8), name=MAX), False),
    "maxima of 256 rows": (pool((1, 260, 4, 8), (256, 2), (1, 5, 3, 8), name=MAX), False),
    "maxima with borders": (
        pool((1, 6, 5, 8), (5, 5), (1, 6, 5, 8), name=MAX, padding=0),
        True,
    ),
    "pools of three images": (pool((3, 6, 6, 8), (3, 3), (3, 4, 4, 8)), True),
    "pool without borders": (pool((1, 6, 6, 8), (3, 3), (1, 4, 4, 8)), True),
    "mean of pixels": (mean((1, 5, 6, 8), [1, 2], (1, 8)), True),
    "mean of pixels of images": (mean((3, 5, 6, 8), [1, 2], (3, 8)), True),
    "mean of images": (mean((3, 5, 6, 8), [0], (5, 6, 8)), True),
    "mean of 23 x 23": (mean((1, 23, 23, 8), [1, 2], (1, 8)), True),
    "mean of 45 x 45": (mean((1, 45, 45, 8), [1, 2], (1, 8)), True),
    "mean of 56 x 56": (mean((1, 56, 56, 8), [1, 2], (1, 8)), True),
    "mean of 65,537": (mean((1, 65537, 1, 8), [1, 2], (1, 8)), True),
    "mean of channels": (mean((1, 5, 6, 8), [3], (1, 5, 6)), True),
}


@pytest.mark.parametrize("name", CASES)
def test_limits(name: str) -> None:
    raw, expected = CASES[name]
    network = lower(read(raw))
    assert (legalize(network, 0).chosen is not None) is expected
    (layer,) = compile_stages(raw, "64").program.layers
    assert (layer.where is Where.ENGINE) is expected


def flags(raw: bytes) -> JobFlag:
    chosen = legalize(lower(read(raw)), 0).chosen
    assert chosen is not None
    assert isinstance(chosen.operation, JobOperation)
    return chosen.operation.flags


def kind_of(raw: bytes) -> JobKind | None:
    chosen = legalize(lower(read(raw)), 0).chosen
    return None if chosen is None else chosen.operation.kind


def test_flags() -> None:
    wide = {"fill": 127, "zero_point": -128}
    assert flags(conv((1, 1, 1, 512), (8, 1, 1, 512), (1, 1, 1, 8), **wide, scale=9)) == 0
    shape = (8, 3, 3, 220)
    assert flags(conv((1, 3, 3, 220), shape, (1, 1, 1, 8), **wide, scale=999)) is JobFlag.WIDE
    assert flags(CASES["8 columns"][0]) == JobFlag.TAPS_8 | JobFlag.ONES
    assert flags(CASES["global pool"][0]) is JobFlag.ONES
    # Two phases: word 0 would add a column that the window does not have.
    assert flags(pool((1, 7, 7, 8), (3, 3), (1, 3, 3, 8), strideH=2, strideW=2)) == 0
    assert flags(pool((1, 8, 8, 8), (4, 4), (1, 3, 3, 8), strideH=2, strideW=2)) is JobFlag.ONES


UNARIES = {
    "HARD_SWISH": {},
    "LEAKY_RELU": {"alpha": 0.25},
    "LOGISTIC": {},
    "QUANTIZE": {},
    "RELU": {},
    "RELU6": {},
    "TANH": {},
}
OUTPUTS = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0), "RELU6": (0.5, 0)}


@pytest.mark.parametrize("operator", UNARIES)
@pytest.mark.parametrize("has_tables", [True, False])
def test_operators_with_one_input_are_tables(operator: str, has_tables: bool) -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 8), scale=0.5)
    scale, zero_point = OUTPUTS.get(operator, (0.25, 3))
    y = builder.tensor((1, 4, 4, 8), scale=scale, zero_point=zero_point)
    builder.operator(operator, [x], [y], **UNARIES[operator])
    raw = builder.build([x], [y])
    assert kind_of(raw) is JobKind.TABLE
    (layer,) = compile_stages(raw, "64", has_tables=has_tables).program.layers
    assert layer.where is (Where.ENGINE if has_tables else Where.CPU)


def test_adjacent_tables_become_one_job() -> None:
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 4, 4, 8), scale=scale) for scale in (0.5, 0.25, 0.125))
    builder.operator("LEAKY_RELU", [x], [y], alpha=0.25)
    builder.operator("RELU", [y], [z])
    stages = compile_stages(builder.build([x], [z]), "64")
    jobs = [len(found.jobs) for found in stages.lists]
    assert jobs == [1]
    image = np.arange(-128, 128, 2, dtype=np.int8)
    (output,) = reference.run(stages.program, [image])
    leaked = np.where(image >= 0, 2 * image.astype(int), np.rint(image / 2)).clip(-128, 127)
    np.testing.assert_array_equal(output.reshape(-1), (2 * leaked).clip(0, 127))


@pytest.mark.parametrize(
    ("operator", "scale", "zero_point", "has_readers", "jobs"),
    [
        ("RELU6", 0.05, -20, False, 1),
        ("RELU6", 0.05, -20, True, 2),
        ("RELU", 0.05, -20, False, 1),
        ("RELU", 0.04, -20, False, 2),
        ("RELU", 0.05, -21, False, 2),
    ],
)
def test_limits_alone_go_into_the_clamp(
    operator: str, scale: float, zero_point: int, has_readers: bool, jobs: int
) -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 8), scale=0.1)
    values = np.random.default_rng(1).integers(-99, 99, (8, 1, 1, 8), np.int8)
    weights = builder.tensor(values.shape, scale=0.02, data=values)
    y = builder.tensor((1, 4, 4, 8), scale=0.05, zero_point=-20)
    z = builder.tensor((1, 4, 4, 8), scale=scale, zero_point=zero_point)
    builder.operator("CONV_2D", [x, weights], [y], padding=VALID, strideH=1, strideW=1)
    builder.operator(operator, [y], [z])
    raw = builder.build([x], [y, z] if has_readers else [z])
    stages = compile_stages(raw, "64")
    assert [len(found.jobs) for found in stages.lists] == [jobs]
    image = np.random.default_rng(2).integers(-128, 128, (1, 4, 4, 8), np.int8)
    (case,) = oracle.ask([oracle.Case(raw, (image,))])
    assert case.outputs is not None
    for expected, actual in zip(case.outputs, reference.run(stages.program, [image]), strict=True):
        assert np.array_equal(actual, expected)


@pytest.mark.parametrize(
    ("operator", "constant", "kind"),
    [
        ("ADD", None, JobKind.ADD),
        ("SUB", None, JobKind.ADD),
        ("MUL", None, JobKind.MUL),
        ("MUL", (1,), JobKind.TABLE),
        ("SUB", (), JobKind.TABLE),
        ("ADD", (8,), JobKind.TABLE),
        ("SUB", (1, 1, 1, 8), JobKind.TABLE),
        ("SUB", (4, 8), JobKind.ADD),
        ("MINIMUM", (), JobKind.TABLE),
        ("MAXIMUM", (1,), JobKind.TABLE),
        ("MAXIMUM", None, JobKind.ADD),
        ("PRELU", (1, 1, 1), JobKind.TABLE),
        ("MINIMUM", (8,), JobKind.ADD),
        ("SQUARED_DIFFERENCE", None, JobKind.ADD),
        ("SQUARED_DIFFERENCE", (1,), JobKind.TABLE),
        ("PRELU", (8,), JobKind.ADD),
        ("PRELU", None, JobKind.ADD),
        ("MUL", (8,), JobKind.DEPTHWISE),
        ("MUL", (1, 4, 4, 8), JobKind.MUL),
        ("MUL", (4, 1), JobKind.MUL),
    ],
)
def test_elementwise(operator: str, constant: Shape | None, kind: JobKind) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4, 4, 8), scale=0.5) for _ in range(2))
    data = None if constant is None else np.full(constant, 7, np.int8)
    shape = (1, 4, 4, 8) if constant is None else constant
    other = builder.tensor(shape, scale=0.5, data=data)
    builder.operator(operator, [x, other], [y])
    raw = builder.build([x, other] if constant is None else [x], [y])
    assert kind_of(raw) is kind


def test_pieces_with_one_divisor_keep_one_stream_when_a_table_limits_them() -> None:
    """A RELU goes into the clamp of a pool whose borders divide by 4, 6 and 9."""
    builder = ModelBuilder()
    x, y, z = (builder.tensor((1, 9, 7, 8), scale=0.02, zero_point=5) for _ in range(3))
    sizes = {"filterHeight": 3, "filterWidth": 3, "strideH": 1, "strideW": 1}
    builder.operator("AVERAGE_POOL_2D", [x], [y], padding=0, **sizes)
    builder.operator("RELU", [y], [z])
    (engine_list,) = compile_stages(builder.build([x], [z]), "64").lists
    assert len(engine_list.jobs) == 9
    assert len({job.weights_offset for job in engine_list.jobs}) == 3


@pytest.mark.parametrize("operator", ["ADD", "SUB"])
@pytest.mark.parametrize("is_first", [False, True])
def test_numbers_by_channel_meet_a_single_pixel(operator: str, is_first: bool) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 24), scale=0.5, zero_point=3) for _ in range(2))
    numbers = np.random.default_rng(1).integers(-128, 128, (24,), np.int8)
    other = builder.tensor((24,), scale=0.25, zero_point=-9, data=numbers)
    builder.operator(operator, [other, x] if is_first else [x, other], [y])
    raw = builder.build([x], [y])
    stages = compile_stages(raw, "64")
    assert [layer.where for layer in stages.program.layers] == [Where.ENGINE]
    pixel = np.random.default_rng(2).integers(-128, 128, (1, 24), np.int8)
    (case,) = oracle.ask([oracle.Case(raw, (pixel,))])
    assert case.outputs is not None
    (found,) = reference.run(stages.program, [pixel])
    np.testing.assert_array_equal(found, case.outputs[0])
