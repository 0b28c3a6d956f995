"""SOFTMAX and LOG_SOFTMAX on the engine: as SOFTMAX jobs, or as a convolution and a table."""

import re

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.engine import JobKind
from kiwicha.contract.program import Kernel
from kiwicha.program.weight_streams import Parameters
from kiwicha.sim.reference import executor as reference
from tests.support.models.softmax_layers import between, softmax
from tests.support.oracle import oracle


def compiled(case: oracle.Case, config: str) -> Compilation:
    """Compile a model, and compare what it gives with its interpreter."""
    is_unsigned = case.inputs[0].dtype == np.uint8
    (answer,) = oracle.ask([case], oracle.LITERT if is_unsigned else oracle.MICRO)
    assert answer.outputs is not None, answer.error
    stages = compile_stages(case.model, config)
    (output,) = reference.run(stages.program, case.inputs)
    np.testing.assert_array_equal(output, answer.outputs[0])
    return stages


def kinds(stages: Compilation) -> list[JobKind]:
    return [JobKind(job.kind) for item in stages.lists for job in item.jobs]


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
@pytest.mark.parametrize(
    ("shape", "jobs"),
    [
        ((6, 16), 1),
        ((1, 5, 7, 21), 1),
        ((3, 2507), 1),
        ((40, 999), 6),
        ((1, 9, 301, 5), 3),
        ((1, 20, 210, 3), 4),
        ((2, 3, 50, 7, 11), 4),
    ],
    ids=str,
)
@pytest.mark.parametrize("operator", ["SOFTMAX", "LOG_SOFTMAX"])
def test_rows(shape: tuple[int, ...], jobs: int, is_unsigned: bool, operator: str) -> None:
    case = softmax(shape, 0.07, is_unsigned=is_unsigned, kind=operator)
    stages = compiled(case, "64-8k-softmax")
    assert not stages.kernel_calls
    found = kinds(stages)
    assert {*found} <= {JobKind.SOFTMAX, JobKind.TABLE}
    assert found.count(JobKind.SOFTMAX) >= jobs


def test_one_pixel_by_itself_is_faster_on_the_cpu() -> None:
    for config in ("64-softmax", "128"):
        stages = compiled(softmax((1, 2), 0.07), config)
        assert [call.kernel for call in stages.kernel_calls] == [Kernel.SOFTMAX]
        assert "in a list of its own" in engine_refusals(stages)[0]


@pytest.mark.parametrize("is_unsigned", [False, True], ids=["int8", "uint8"])
def test_rows_of_one_are_a_table(is_unsigned: bool) -> None:
    case = softmax((600, 1), 0.07, is_unsigned=is_unsigned)
    assert {*kinds(compiled(case, "64"))} == {JobKind.TABLE}
    assert not compiled(case, "simd").lists


@pytest.mark.parametrize("rows", [800, 802, 801])
@pytest.mark.parametrize("config", ["32", "64", "128"])
def test_pairs_are_a_convolution_and_a_table(config: str, rows: int) -> None:
    """Of four, two or one row in a pixel; a move leaves out the gaps between others than four."""
    found = kinds(compiled(softmax((1, rows, 2), 0.06), config))
    move = [] if rows % 4 == 0 else [JobKind.MOVE]
    assert found == [JobKind.CONV, JobKind.TABLE, *move]


def test_pairs_whose_outputs_change_at_large_differences() -> None:
    """For many of these the CPU has a table, which is faster than SOFTMAX jobs."""
    case = softmax((1, 800, 2), 0.01)
    for config, jobs in (
        ("64", "it takes SOFTMAX jobs, which 64 has not; 64-softmax has them"),
        ("128", r"it takes [\d,]+ cycles there, and [\d,]+ in SOFTMAX jobs"),
    ):
        stages = compiled(case, config)
        assert not stages.lists
        table = "as a convolution and a table it has outputs that change .* difference of 127; "
        assert re.fullmatch(table + jobs, engine_refusals(stages)[0])


@pytest.mark.parametrize("channels", [8, 11])
@pytest.mark.parametrize("operator", ["MAXIMUM", "MUL"])
@pytest.mark.parametrize("kind", ["SOFTMAX", "LOG_SOFTMAX"])
def test_between_other_layers(kind: str, operator: str, channels: int) -> None:
    """Rows as they lie behind a convolution, and a limit that no SOFTMAX job has."""
    for config in ("64-softmax", "64-8k-softmax"):
        stages = compiled(between(operator, channels, kind), config)
        assert not stages.kernel_calls
        assert len(stages.lists) == 1
        assert {*kinds(stages)} == {JobKind.CONV, JobKind.SOFTMAX, JobKind.TABLE}


def test_logarithms_of_pairs_take_jobs() -> None:
    """Their outputs change up to a difference of 255, which no int8 holds."""
    for config in ("64-softmax", "128"):
        stages = compiled(softmax((1, 800, 2), 0.07, kind="LOG_SOFTMAX"), config)
        assert {*kinds(stages)} == {JobKind.SOFTMAX}
    model = softmax((6, 16), 0.07, kind="LOG_SOFTMAX").model
    (why,) = engine_refusals(compile_stages(model, "64")).values()
    assert why == "it takes SOFTMAX jobs, which 64 has not; 64-softmax has them"


def operation(rows: int, columns: int) -> SoftmaxOperation:
    nothing = np.zeros(1, np.int32)
    return SoftmaxOperation(
        position=0,
        inputs=(0,),
        output=1,
        window=Window.of_pixels(rows, columns, 2),
        output_channels=2,
        clamp=(-128, 127),
        parameters=Parameters(nothing, nothing, nothing),
        output_zero_point=-128,
        exponentials=np.zeros(256, np.int32),
    )


def test_jobs_have_as_many_rows_as_a_descriptor_can_say() -> None:
    assert operation(65535, 1).is_one_job
    assert operation(1, 65535).is_one_job
    large = operation(1000, 100)
    assert not large.is_one_job
    assert [piece.rows for piece in large.within(10, 990)] == [range(10, 665), range(665, 1000)]
