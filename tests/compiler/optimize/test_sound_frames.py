"""Frames of sound are one layer where there is a unit for them, and it can compute them."""

import numpy as np
import pytest

from kiwicha.compiler.driver import compile_model
from kiwicha.contract.program import Kernel
from kiwicha.sound.frontend import frontend_model
from tests.support.models.signals import SIGNALS

REST = [
    *(Kernel.SIGNAL_SUBTRACTION, Kernel.COPY, Kernel.SIGNAL_PCAN, Kernel.SIGNAL_LOG),
    Kernel.SHORT_LINE,
]


def kernels(raw: bytes, config: str) -> list[Kernel]:
    return [step.kernel for step in compile_model(raw, config).steps]


@pytest.mark.parametrize("config", ["simd-signal", "64-signal"])
def test_the_frontend_has_one_step_up_to_its_channels(config: str) -> None:
    assert kernels(frontend_model(), config) == [Kernel.UNIT_CHANNELS, *REST]


def test_without_the_unit_there_is_none() -> None:
    assert kernels(frontend_model(), "64")[-len(REST) :] == REST
    assert Kernel.UNIT_CHANNELS not in kernels(frontend_model(), "64")


def test_what_others_read_is_written() -> None:
    """Every tensor between the operators is an output here."""
    model = SIGNALS["spectrum"](np.random.default_rng(0)).model
    assert kernels(model, "simd-signal") == kernels(model, "simd")
