"""Frames of sound are one layer where there is a unit for them, and it can compute them."""

import numpy as np
import pytest

from kiwicha.compiler.driver import compile_model
from kiwicha.contract.program import Kernel
from kiwicha.contract.signal import MOST_HALF_BITS
from kiwicha.sound.frontend import frontend_model
from tests.support.models.signals import roots

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


@pytest.mark.parametrize("shown", ["tapered", "scaled", "bits", "spectrum"])
def test_what_others_read_is_written(shown: str) -> None:
    def found(shown: str) -> list[Kernel]:
        return kernels(roots(np.random.default_rng(1), shown).model, "simd-signal")

    assert found("") == [Kernel.UNIT_CHANNELS, Kernel.CAST] or found("") == [Kernel.UNIT_CHANNELS]
    assert Kernel.UNIT_CHANNELS not in found(shown)


def test_what_the_unit_has_no_memory_for_is_left_to_the_cpu() -> None:
    """Half of the lengths that are drawn are too large, or not."""
    merged = {}
    for seed in range(12):
        steps = compile_model(roots(np.random.default_rng(seed)).model, "simd-signal").steps
        halves = [x.params.half for x in steps if x.kernel is Kernel.SIGNAL_RFFT]
        merged[seed] = not halves
        assert all(half > 1 << MOST_HALF_BITS for half in halves)
    assert len({*merged.values()}) == 2
