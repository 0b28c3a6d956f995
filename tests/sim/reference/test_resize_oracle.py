"""Images that become larger on the engine, against the oracle of each type."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.sim.reference import executor as reference
from tests.support.models.resized import WAYS, Resized
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

SINGLE, NEIGHBOURS = "in phases of rows and columns", "in phases of rows"
CHANNELS = {2: 8, 3: 24, 4: 21, 8: 3, 16: 3}
"""Of images that become so many times larger."""
TYPES = {np.int8: oracle.MICRO, np.uint8: oracle.LITERT}
POWERS = [
    Resized(5, 4, CHANNELS[factor], factor, factor, way)
    for factor in (2, 4, 8, 16)
    for way in WAYS
    if (factor, way) != (16, "centers")
]
OTHERS = [
    Resized(4, 5, 21, 1, 2, "centers"),
    Resized(5, 4, 3, 4, 1, "plain"),
    Resized(3, 5, 24, 8, 2, "corners"),
    Resized(3, 4, 8, 2, 4, "centers", images=2),
    Resized(2, 3, 8, 4, 4, "plain", images=3),
]
# None of these fits the scratchpad of 8 KiB. Of some, lists would have a job for each row and phase
# of columns.
LARGE = [
    (Resized(24, 20, 16, 2, 2, "centers"), SINGLE),
    (Resized(17, 9, 21, 16, 8, "corners"), NEIGHBOURS),
    (Resized(20, 3, 24, 8, 16, "plain"), NEIGHBOURS),
    (Resized(20, 5, 3, 8, 8, "centers"), NEIGHBOURS),
]


def check(item: Resized, dtype: Any, config: str) -> str:
    """Compare the engine with the oracle; give the form of the layer."""
    case = item.case(dtype)
    (answer,) = oracle.ask([case], TYPES[dtype])
    assert answer.outputs is not None
    stages = compile_stages(case.model, config)
    layers = zip(stages.network.layers, stages.engine.selection.decisions, strict=True)
    (decision,) = (found for layer, found in layers if layer.kernel is Kernel.RESIZE_BILINEAR)
    assert decision.chosen is not None
    (got,) = reference.run(stages.program, case.inputs)
    np.testing.assert_array_equal(got, answer.outputs[0])
    return decision.chosen.form


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("item", [*POWERS, *OTHERS], ids=str)
def test_larger_images(item: Resized, dtype: Any) -> None:
    check(item, dtype, "64")


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize(("item", "form"), LARGE, ids=str)
def test_stripes_of_larger_images(item: Resized, form: str, dtype: Any) -> None:
    assert check(item, dtype, "64-8k") == form


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("config", ["32", "128"])
def test_engines(config: str, dtype: Any) -> None:
    check(Resized(5, 4, 21, 4, 4, "centers"), dtype, config)
