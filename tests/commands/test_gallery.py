"""``kiwicha gallery``."""

from pathlib import Path

import pytest

from kiwicha.gallery.catalogue import find
from tests.support.commands.command_line import Command
from tests.support.models.gallery_models import NAMES


def test_all_architectures_are_listed(kiwicha: Command) -> None:
    code, out, _ = kiwicha("gallery")
    assert code == 0
    assert all(f" {name} " in out for name in NAMES)
    assert "a multiple of 32 from 32 to 2048" in out


def test_a_model_is_written(kiwicha: Command, tmp_path: Path) -> None:
    path = tmp_path / "made.tflite"
    options = ("--size", 32, "--width", 0.125, "--seed", 2, "--uint8")
    code, out, _ = kiwicha("gallery", "mlp_mixer", *options, "--output", path)
    name = "mlp_mixer@32,width=0.125,seed=2,uint8"
    assert (code, out) == (0, f"{path}: {path.stat().st_size:,} bytes, {name}\n")
    assert path.read_bytes() == find(name).content()


def test_options_come_before_those_in_the_name(
    kiwicha: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert kiwicha("gallery", "mlp_mixer@64,width=0.125", "--size", 32)[0] == 0
    path = tmp_path / "mlp_mixer@32,width=0.125.tflite"
    assert path.read_bytes() == find("mlp_mixer@32,width=0.125").content()


def test_a_model_runs_by_its_name(kiwicha: Command, tmp_path: Path) -> None:
    pixels = tmp_path / "pixels.bin"
    pixels.write_bytes(bytes(32 * 32 * 3))
    model = "mlp_mixer@32,width=0.125"
    assert kiwicha.reference(model, "--input", pixels)[0] == 0


def test_what_is_not_possible_is_refused(kiwicha: Command, tmp_path: Path) -> None:
    assert kiwicha.error("gallery", "unet", "--size", 40) == (
        "size of unet must be a multiple of 16 from 32 to 2048, not 40"
    )
    assert "architecture must be one of" in kiwicha.error("gallery", "unknown")
    folder = tmp_path / "missing"
    error = kiwicha.error("gallery", "mlp_mixer", "--size", 32, "--output", folder / "x.tflite")
    assert str(folder) in error
