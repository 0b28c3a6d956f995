"""Vela's estimates."""

from pathlib import Path

import pytest

from kiwicha import vela
from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS
from kiwicha.errors import ToolError
from tests.support.models.two_heads import two_heads
from tests.support.requirements import module


def test_accelerators_have_as_many_multipliers() -> None:
    assert vela.accelerator(ENGINE_CONFIGS["128"]) == "ethos-u55-128"
    assert vela.accelerator(CONFIGS["simd"]) is None


def test_an_estimate_is_made(tmp_path: Path) -> None:
    module("ethosu.vela", "ethos-u-vela")
    model = tmp_path / "model.tflite"
    model.write_bytes(two_heads())
    cycles = [vela.estimate(model, f"ethos-u55-{macs}").cycles for macs in (32, 128)]
    assert cycles[0] > cycles[1] > 100


def test_what_vela_refuses_is_reported(tmp_path: Path) -> None:
    module("ethosu.vela", "ethos-u-vela")
    model = tmp_path / "model.tflite"
    model.write_bytes(b"no model")
    with pytest.raises(ToolError, match=r"^Vela failed with exit status "):
        vela.estimate(model, "ethos-u55-64")
