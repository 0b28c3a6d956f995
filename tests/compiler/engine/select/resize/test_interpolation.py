"""Images that become larger: what jobs compute of them, and why the CPU computes others."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.operations import DividedOperation
from kiwicha.compiler.reasons import engine_refusals
from kiwicha.contract.program import Kernel, Where
from tests.support.models.resized import Resized
from tests.support.models.tflite_builder import ModelBuilder


def operation(item: Resized) -> DividedOperation:
    """Return what the engine computes."""
    (found,) = compile_stages(item.case(np.int8).model, "64").engine.operations
    assert isinstance(found, DividedOperation)
    return found


@pytest.mark.parametrize(
    ("item", "jobs"),
    [
        (Resized(6, 7, 8, 2, 2, "plain"), (2 + 1) ** 2),
        (Resized(6, 7, 8, 2, 2, "corners"), 2**2),
        (Resized(6, 7, 8, 2, 2, "centers"), (2 + 2) ** 2),
        (Resized(6, 7, 8, 4, 1, "plain"), 4 + 3),
        (Resized(6, 7, 8, 8, 8, "corners"), 8**2),
    ],
    ids=str,
)
def test_a_job_for_each_phase_and_edge(item: Resized, jobs: int) -> None:
    found = operation(item)
    assert len(list(found.within(0, found.window.output_rows))) == jobs
    written = np.zeros((found.window.output_rows, found.window.output_columns), int)
    for piece in found.pieces:
        assert piece.columns is not None
        written[np.ix_(piece.rows, piece.columns)] += 1
    assert (written == 1).all()


def model(shape: Any, output: Any, dtype: Any = np.int8, **way: bool) -> bytes:
    """Give a model of one RESIZE_BILINEAR."""
    builder = ModelBuilder()
    x, y = (builder.tensor(s, dtype, scale=0.5, zero_point=9) for s in (shape, output))
    size = builder.tensor((2,), np.int32, data=np.array(output[1:3], np.int32))
    builder.operator("RESIZE_BILINEAR", [x, size], [y], **way)
    return builder.build([x], [y])


CENTERS = {"halfPixelCenters": True}
REFUSED = {
    "fraction": (
        model((1, 4, 4, 8), (1, 8, 6, 8)),
        "makes 6 columns of 4, whose weights do not repeat",
    ),
    "smaller": (
        model((1, 8, 4, 8), (1, 4, 8, 8)),
        "makes 4 rows of 8, whose weights do not repeat",
    ),
    "factor": (
        model((1, 2, 4, 8), (1, 64, 4, 8)),
        "has 32 rows for each of the input; the engine takes up to 16",
    ),
    "products": (
        model((1, 4, 4, 8), (1, 64, 64, 8), **CENTERS),
        "has 289 as the numerator of a weight; the engine takes up to 255",
    ),
}


@pytest.mark.parametrize(("raw", "why"), REFUSED.values(), ids=REFUSED)
def test_others_take_two_passes(raw: bytes, why: str) -> None:
    stages = compile_stages(raw, "64")
    decision = stages.engine.selection.decisions[0]
    assert decision.chosen is not None
    assert decision.chosen.form == "in two passes"
    assert decision.why_not == f"phase by phase it {why}"


def test_the_cpu_computes_what_depends_on_how_float32_is_rounded() -> None:
    stages = compile_stages(model((1, 5, 5, 8), (1, 7, 8, 8), np.uint8), "64")
    (position,) = (
        number
        for number, layer in enumerate(stages.network.layers)
        if layer.kernel is Kernel.RESIZE_BILINEAR
    )
    assert stages.program.layers[position].where is Where.CPU
    assert engine_refusals(stages)[position] == (
        "phase by phase it has float32 weights; in two passes it has float32 weights, and outputs "
        "that depend on how sums are rounded"
    )


@pytest.mark.parametrize("way", [{}, {"alignCorners": True}, CENTERS], ids=str)
def test_a_single_pixel_is_copied(way: dict[str, bool]) -> None:
    stages = compile_stages(model((1, 1, 1, 8), (1, 33, 33, 8), **way), "64")
    assert [layer.kernel for layer in stages.network.layers] == [Kernel.COPY]
