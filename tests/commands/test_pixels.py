"""``kiwicha pixels``."""

import random
from pathlib import Path

from tests.support.commands.command_line import Command
from tests.support.models.qdq_builder import QdqBuilder


def test_a_model_of_pixels_is_written_and_runs(kiwicha: Command, tmp_path: Path) -> None:
    model = QdqBuilder(random.Random(5))
    features = model.node("Relu", [model.input(1, 3, 6, 5)])
    path = tmp_path / "net.onnx"
    path.write_bytes(model.case(model.requantized(features)).model)
    code, out, _ = kiwicha("pixels", path)
    written = tmp_path / "net-pixels.onnx"
    assert (code, out) == (0, f"{written}: pixels at v0\n")
    picture = tmp_path / "picture.bin"
    picture.write_bytes(bytes(90))
    assert kiwicha.reference(written, "--input", picture)[0] == 0


def test_what_cannot_be_read_is_refused(kiwicha: Command, tmp_path: Path) -> None:
    assert "must be a readable file" in kiwicha.error("pixels", tmp_path / "missing.onnx")
    path = tmp_path / "net.onnx"
    path.write_bytes(b"no model")
    assert "must be an .onnx file" in kiwicha.error("pixels", path)
