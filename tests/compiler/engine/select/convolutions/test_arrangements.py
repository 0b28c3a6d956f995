"""Convolutions in other orders of inputs and outputs: which are chosen, and what they give."""

import pytest

from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.select.convolutions.arrangements import arranged
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.contract.configs import ENGINE_CONFIGS
from tests.compiler.engine.build import convolution
from tests.support.choices import at_night
from tests.support.models.convolution_sweep import Combination, case
from tests.support.oracle.on_engine import on_engine

PAIRS = "two pixels at a time"
ROWS = "with joined rows"
IMAGE = Window(48, 48, 1, 24, 24, 3, 3, 2, 2)
SPECTRUM = Window(49, 10, 1, 25, 5, 10, 4, 2, 2, pad_top=4, pad_left=1)
FEATURES = Window(24, 24, 8, 24, 24, 3, 3, pad_top=1, pad_left=1)
DILATED = Window(49, 10, 1, 31, 5, 10, 4, 1, 2, 2, pad_left=1)


@pytest.mark.parametrize(
    ("window", "outputs", "config", "form"),
    [
        (IMAGE, 8, "64", ""),
        (IMAGE, 8, "128", PAIRS),
        (IMAGE, 8, "256", PAIRS),
        (IMAGE, 16, "128", ""),
        (FEATURES, 8, "128", PAIRS),
        (FEATURES, 16, "128", ""),
        (SPECTRUM, 64, "32", ROWS),
        (SPECTRUM, 64, "64", ROWS),
        (SPECTRUM, 64, "256", ROWS),
        (DILATED, 64, "64", ""),
    ],
)
def test_the_fastest_order_is_chosen(window: Window, outputs: int, config: str, form: str) -> None:
    given = convolution(0, window, outputs)
    given.weights.clip(-127, 127, out=given.weights)
    operation = packed_if_faster(given, ENGINE_CONFIGS[config])
    assert isinstance(operation, Convolution)
    found = [candidate.form for candidate in arranged(operation, ENGINE_CONFIGS[config])]
    assert found == ([form] if form else [])


KERNELS = ((3, 3), (10, 4), (4, 3), (5, 6), (2, 9))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["int8", at_night("uint8")])
@pytest.mark.parametrize("padding", ["SAME", at_night("VALID")])
@pytest.mark.parametrize("stride", [1, 2, at_night(3)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_answers(kernel: tuple[int, int], stride: int, padding: str, kind: str) -> None:
    for channels, outputs in ((1, 8), (1, 40), (3, 8), (3, 20), (2, 24)):
        combination = Combination(
            "CONV_2D", channels, outputs, kernel, stride, 1, padding, kind, "RELU"
        )
        for config in ("64", "128", "256"):
            on_engine(case(combination), config, is_all=False)
