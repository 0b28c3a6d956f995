"""The guide from PyTorch to cycles: its scripts and commands, one after the other."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.support.commands.guides import SCRIPTS, kiwicha_run, python_blocks, script
from tests.support.models.qdq_builder import OnnxCase, answers
from tests.support.requirements import REPOSITORY, module, unavailable

GUIDE = REPOSITORY / "docs" / "guides" / "pytorch.md"


def export_without_torch(path: Path) -> None:
    """Write the network of ``train_torch.py`` as PyTorch exports it, with random weights."""
    onnx = module("onnx", "onnx")
    helper, rng = onnx.helper, np.random.default_rng(1)
    nodes, constants, value = [], [], "picture"

    def weighted(kind: str, shape: tuple[int, ...], **attributes: object) -> None:
        nonlocal value
        name = f"{kind}{len(nodes)}"
        scale = (2 / np.prod(shape[1:])) ** 0.5
        for suffix, array in (("w", rng.normal(0, scale, shape)), ("b", np.zeros(shape[0]))):
            tensor = onnx.numpy_helper.from_array(array.astype(np.float32), f"{name}.{suffix}")
            constants.append(tensor)
        inputs = [value, f"{name}.w", f"{name}.b"]
        nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        value = name

    def plain(kind: str) -> None:
        nonlocal value
        nodes.append(helper.make_node(kind, [value], [f"{kind}{len(nodes)}"]))
        value = nodes[-1].output[0]

    weighted("Conv", (16, 1, 3, 3), pads=[1] * 4)
    plain("Relu")
    for channels in (16, 32):
        window = {"group": channels, "strides": [2, 2], "pads": [1] * 4}
        weighted("Conv", (channels, 1, 3, 3), **window)
        plain("Relu")
        weighted("Conv", (2 * channels, channels, 1, 1))
        plain("Relu")
    plain("GlobalAveragePool")
    plain("Flatten")
    weighted("Gemm", (4, 64), transB=1)
    nodes[-1].output[0] = "scores"
    shapes = {"picture": (1, 1, 24, 24), "scores": (1, 4)}
    edges = [helper.make_tensor_value_info(name, 1, shape) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "shapes", edges[:1], edges[1:], constants)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)


def follow(folder: Path) -> int:
    """Do what the guide does behind the export, and give how many of 200 pictures are right."""
    module("onnxruntime", "onnxruntime")
    script(folder, "quantize.py")
    found = re.fullmatch(
        r"(\d+) of 200 are right\n", script(folder, "evaluate.py", "shapes_int8.onnx")
    )
    assert found
    picture = np.fromfile(folder / "picture.bin", np.float32).reshape(1, 1, 24, 24)
    model = (folder / "shapes_int8.onnx").read_bytes()
    (expected,) = answers(OnnxCase(model, (picture,)))
    listing = kiwicha_run(folder, "compile", "shapes_int8.onnx", "--config", "64")
    assert "DEPTHWISE_CONV_2D" in listing
    words = ("--input", "picture.bin", "--target", "reference", "--output", "scores.bin")
    kiwicha_run(folder, "run", "shapes_int8.onnx", *words)
    scores = np.fromfile(folder / "scores.bin", np.float32)
    assert scores.argmax() == expected.argmax()
    return int(found[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in SCRIPTS.glob("*.py"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_the_guide_shows_what_the_scripts_do() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.py"))
    blocks = python_blocks(GUIDE)
    assert len(blocks) == 2
    assert all(block in texts for block in blocks)


@pytest.mark.slow
def test_the_guide_works_from_the_export_on(folder: Path) -> None:
    export_without_torch(folder / "shapes.onnx")
    follow(folder)


@pytest.mark.nightly
def test_the_guide_works_from_the_training_on(folder: Path) -> None:
    try:
        script(folder, "train_torch.py")
    except AssertionError as error:
        if "No module named 'torch'" not in str(error):
            raise
        # It is larger than all that other tests need.
        unavailable("needs module torch: pip install torch", is_failure_in_ci=False)
    assert follow(folder) > 180


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_simulated_system_gives_the_same(folder: Path) -> None:
    export_without_torch(folder / "shapes.onnx")
    script(folder, "quantize.py")
    table = kiwicha_run(folder, "bench", "shapes_int8.onnx", "--config", "64")
    assert "bit-exact" in table
