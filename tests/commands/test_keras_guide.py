"""The guide from Keras to cycles: its scripts and commands, one after the other."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from kiwicha.gallery.network import Network
from kiwicha.gallery.ranges import Ranges
from tests.support.commands.guides import SCRIPTS, kiwicha_run, python_blocks, script
from tests.support.oracle.oracle import MICRO, Case, ask
from tests.support.requirements import REPOSITORY, unavailable

GUIDE = REPOSITORY / "docs" / "guides" / "keras.md"
MODEL = "shapes_int8.tflite"


def convert_without_keras(path: Path) -> None:
    """Write the network of ``train_keras.py`` as TensorFlow converts it, with random weights."""
    ranges = Ranges()
    for _ in range(2):
        net = Network(
            size=24, width=1, description="shapes", seed=1, is_unsigned=False, ranges=ranges,
            sample_size=24,
        )  # fmt: skip
        x = net.conv(net.input(24, 24, 1), 16, kernel=3, activation="relu")
        for channels in (32, 64):
            x = net.depthwise(x, stride=2, activation="relu")
            x = net.conv(x, channels, activation="relu6")
        scores = net.dense(net.mean(x), 4)
        ranges.settle()
    path.write_bytes(net.file([scores]))


def follow(folder: Path) -> int:
    """Do what the guide does behind the conversion, and give how many pictures are right."""
    found = re.fullmatch(r"(\d+) of 200 are right\n", script(folder, "evaluate.py", MODEL))
    assert found
    picture = np.fromfile(folder / "picture.bin", np.int8).reshape(1, 24, 24, 1)
    assert "DEPTHWISE_CONV_2D" in kiwicha_run(folder, "compile", MODEL, "--config", "64")
    words = ("--input", "picture.bin", "--target", "reference", "--output", "scores.bin")
    kiwicha_run(folder, "run", MODEL, *words)
    (answer,) = ask([Case((folder / MODEL).read_bytes(), (picture,))], MICRO)
    assert answer.outputs is not None
    assert (folder / "scores.bin").read_bytes() == answer.outputs[0].tobytes()
    return int(found[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in SCRIPTS.glob("*.py"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_the_guide_shows_what_the_script_does() -> None:
    text = (SCRIPTS / "train_keras.py").read_text(encoding="utf-8")
    blocks = python_blocks(GUIDE)
    assert len(blocks) == 1
    assert all(block in text for block in blocks)
    for words in ("batch_size=1", "BatchNormalization(momentum=0.9)"):
        assert f"`{words}`" in GUIDE.read_text(encoding="utf-8")
        assert words in text


@pytest.mark.slow
def test_the_guide_works_from_the_conversion_on(folder: Path) -> None:
    convert_without_keras(folder / MODEL)
    follow(folder)


@pytest.mark.nightly
def test_the_guide_works_from_the_training_on(folder: Path) -> None:
    try:
        script(folder, "train_keras.py")
    except AssertionError as error:
        if "No module named 'tensorflow'" not in str(error):
            raise
        # It is larger than all that other tests need.
        unavailable("needs module tensorflow: pip install tensorflow", is_failure_in_ci=False)
    assert follow(folder) > 180


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_simulated_system_gives_the_same(folder: Path) -> None:
    convert_without_keras(folder / MODEL)
    assert "bit-exact" in kiwicha_run(folder, "bench", MODEL, "--config", "64")
