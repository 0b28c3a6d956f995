"""Models of every architecture of the gallery, against the interpreter of their type."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.gallery.catalogue import ARCHITECTURES, GalleryModel
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tests.support.choices import at_night, by_day
from tests.support.models import gallery_models
from tests.support.models.gallery_models import NAMES, tiny
from tests.support.oracle import oracle

pytestmark = pytest.mark.slow

UNSIGNED = [name for name, one in ARCHITECTURES.items() if one.has_unsigned]
LEAST_VALUES = 10
"""Different values that an output has, so that it says something."""
MOST_SATURATED = 0.15
"""Share of values at the ends of the range."""

_AT_NIGHT = {
    *("densenet121", "inception3", "resnet50", "shufflenet1", "ssdlite_mobiledet"),
    *("ssdlite_mobilenet3", "yolov8n"),
}
"""Those that take as long as several of the others."""


def check(model: GalleryModel, config: str) -> None:
    """Compare a model's outputs with the interpreter's, which are neither constant nor clipped."""
    case = gallery_models.case(model)
    interpreter = oracle.LITERT if model.is_unsigned else oracle.MICRO
    (answer,) = oracle.ask([case], interpreter)
    assert answer.outputs is not None, answer.error
    program = Program.from_bytes(compile_model(case.model, config).to_bytes())
    for got, expected in zip(reference.run(program, case.inputs), answer.outputs, strict=True):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
        ends = np.iinfo(expected.dtype).min, np.iinfo(expected.dtype).max
        assert len(np.unique(expected)) >= LEAST_VALUES
        assert np.isin(expected, ends).mean() < MOST_SATURATED


@pytest.mark.parametrize("config", by_day("64", "baseline", "simd", "128"))
@pytest.mark.parametrize("name", [at_night(name) if name in _AT_NIGHT else name for name in NAMES])
def test_int8(name: str, config: str) -> None:
    check(tiny(name), config)


@pytest.mark.parametrize("config", by_day("64", "baseline", "simd", "128"))
@pytest.mark.parametrize("name", [UNSIGNED[0], *(at_night(name) for name in UNSIGNED[1:])])
def test_uint8(name: str, config: str) -> None:
    check(tiny(name, is_unsigned=True), config)


@pytest.mark.nightly
@pytest.mark.parametrize("config", ["64", "128"])
@pytest.mark.parametrize("name", NAMES)
def test_larger_models(name: str, config: str) -> None:
    check(gallery_models.small(name), config)
