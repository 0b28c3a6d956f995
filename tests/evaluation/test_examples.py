"""Labelled data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.evaluation.examples import read_examples
from kiwicha.program.parts import IoTensor
from kiwicha.zoo import models as zoo

LABELS = ("no face", "face")


@pytest.fixture(scope="module")
def tensor() -> IoTensor:
    """Give an int8 tensor 1x96x96x1."""
    return compile_model(zoo.demo_model()[0], "simd").inputs[0]


def folder(path: Path, **counts: int) -> Path:
    """Write grey pictures, as dark as their number, in folders."""
    for name, count in counts.items():
        (path / name).mkdir()
        for number in range(count):
            Image.new("L", (96, 96), number).save(path / name / f"{number}.png")
    return path


def test_folders_are_classes_by_label_or_number(tmp_path: Path, tensor: IoTensor) -> None:
    path = folder(tmp_path, No_Face=2, face=1)
    found = read_examples(path, tensor, LABELS, 2)
    assert found.classes == (0, 0, 1)
    assert found.read(1) == bytes([0x81]) * 96 * 96
    assert [len(chunk) for chunk in found.chunks(2)] == [2, 1]
    assert read_examples(path, tensor, LABELS, 2, limit=1).classes == (0, 1)
    (path / "No_Face").rename(path / "0")
    (path / "face").rename(path / "1")
    assert read_examples(path, tensor, (), 2).classes == (0, 0, 1)


@pytest.mark.parametrize("name", ["cat", "2"])
def test_a_folder_of_another_name_is_refused(tmp_path: Path, tensor: IoTensor, name: str) -> None:
    path = folder(tmp_path, face=1, **{name: 1})
    with pytest.raises(UsageError, match=f"numbers below 2, not {name} .*labels: no face, face"):
        read_examples(path, tensor, LABELS, 2)


def test_no_data_is_refused(tmp_path: Path, tensor: IoTensor) -> None:
    with pytest.raises(UsageError, match=r"^data must have a folder with pictures for each class"):
        read_examples(tmp_path, tensor, LABELS, 2)
    with pytest.raises(UsageError, match=r"^data must be a folder of folders"):
        read_examples(tmp_path / "a.txt", tensor, LABELS, 2)
    (tmp_path / "a.npz").write_bytes(b"no")
    with pytest.raises(UsageError, match=r"^data must be a readable .npz file"):
        read_examples(tmp_path / "a.npz", tensor, LABELS, 2)


def saved(path: Path, **arrays: Any) -> Path:
    np.savez(path / "a.npz", **arrays)
    return path / "a.npz"


@pytest.mark.parametrize("kind", ["int8", "pixels", "real"])
def test_arrays_become_the_tensor(tmp_path: Path, tensor: IoTensor, kind: str) -> None:
    rng = np.random.default_rng(3)
    wanted = rng.integers(-128, 128, (3, 96, 96, 1), np.int8)
    x = {
        "int8": wanted,
        "pixels": (wanted.astype(np.int16) + 128).astype(np.uint8),
        "real": (wanted.astype(np.float32) - tensor.zero_point) * np.float32(tensor.scale),
    }[kind]
    found = read_examples(saved(tmp_path, X=x, labels=[1, 0, 1]), tensor, LABELS, 2)
    assert found.classes == (1, 0, 1)
    assert [found.read(k) for k in range(3)] == [value.tobytes() for value in wanted]
    assert len(read_examples(tmp_path / "a.npz", tensor, LABELS, 2, limit=2)) == 2


def test_halves_are_rounded_away_from_zero_and_ends_are_kept(
    tmp_path: Path, tensor: IoTensor
) -> None:
    x = np.zeros((1, 96 * 96), np.float32)
    x[0, :4] = np.array([0.5, -0.5, 1e6, -1e6], np.float32) * np.float32(tensor.scale)
    found = read_examples(saved(tmp_path, x=x, y=[0]), tensor, LABELS, 2).read(0)
    values = np.frombuffer(found, np.int8)[:4].astype(int) - tensor.zero_point
    ends = [127 - tensor.zero_point, -128 - tensor.zero_point]
    assert list(values) == list(np.clip([1, -1, *ends], ends[1], ends[0]))


def test_one_of_n_is_a_class(tmp_path: Path, tensor: IoTensor) -> None:
    x = np.zeros((2, 96, 96), np.int8)
    path = saved(tmp_path, images=x, targets=[[0.0, 1.0], [1.0, 0.0]])
    assert read_examples(path, tensor, LABELS, 2).classes == (1, 0)


@pytest.mark.parametrize(
    ("arrays", "text"),
    [
        ({"a": [1]}, "data must have an array named x or x_test or .*, not a "),
        (
            {"x": np.zeros((1, 9216), np.int8), "y": [2]},
            "classes must be whole numbers from 0 to 1",
        ),
        ({"x": np.zeros((1, 9216), np.int8), "y": [0.5]}, "classes must be whole numbers"),
        ({"x": np.zeros((2, 9216), np.int8), "y": [1]}, "inputs must be 1, as many as classes"),
        (
            {"x": np.zeros((1, 9), np.int8), "y": [1]},
            "inputs must be .* each int8 1x96x96x1, .* not int8 1x9 ",
        ),
        (
            {"x": np.zeros((1, 9216), np.int32), "y": [1]},
            "inputs must be int8 .*, or real numbers, not int32 ",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    tmp_path: Path, tensor: IoTensor, arrays: dict[str, Any], text: str
) -> None:
    with pytest.raises(UsageError, match=f"^{text}"):
        read_examples(saved(tmp_path, **arrays), tensor, LABELS, 2)
