"""Models in an application of TensorFlow Lite Micro; needs TFLM, a tree of it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.contract.configs import find_config
from kiwicha.tflm import divide
from kiwicha.zoo import models as zoo
from tests.support import library_builds
from tests.support.models import random_networks
from tests.tflm.models import mixed
from tools.tflm.__main__ import EQUAL, REFUSED, TREE_VARIABLE, compare
from tools.tflm.application import Tree, build_plain, build_with_operator, library_files

TREE = os.environ.get(TREE_VARIABLE)
pytestmark = pytest.mark.skipif(
    TREE is None,
    reason="TFLM must be a tree of TensorFlow Lite Micro",
)
DAILY = {"hello_world", "person_detect", "kws"}
NAMES = [
    pytest.param(item.file, id=item.name, marks=() if item.name in DAILY else pytest.mark.nightly)
    for item in zoo.entries()
]


@pytest.fixture(scope="module")
def tree() -> Tree:
    assert TREE is not None
    return Tree(Path(TREE).resolve())


@pytest.fixture(scope="module")
def plain(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plain(tree, tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder in which the libraries of all models are built."""
    return tmp_path_factory.mktemp("library")


@pytest.mark.parametrize("file", NAMES)
def test_every_byte_is_that_of_plain_tflm(
    tree: Tree, plain: Path, library: Path, zoo_model: Callable[[str], Path], file: str
) -> None:
    found = compare(tree, plain, zoo_model(Path(file).stem), library)
    if found["outcome"] == REFUSED:
        # There is nothing to compare with: weights of uint8 are not TensorFlow Lite Micro's.
        assert "Hybrid models are not supported" in found["reason"]
        return
    assert found["outcome"] == EQUAL
    assert found["bytes"] > 0


@pytest.mark.parametrize("model", [mixed(), random_networks.network(0).model], ids=["mixed", "all"])
def test_made_models(tree: Tree, plain: Path, library: Path, model: bytes, tmp_path: Path) -> None:
    path = tmp_path / "made.tflite"
    path.write_bytes(model)
    assert len(divide(model, find_config("baseline")).partitions) in {1, 2}
    found = compare(tree, plain, path, library)
    assert found["outcome"] == EQUAL
    assert found["bytes"] > 0


def test_the_example_is_built_and_runs(tree: Tree, tmp_path: Path) -> None:
    partitioned = divide(mixed(), find_config("baseline"))
    assert partitioned.left
    build_with_operator(tree, tmp_path, "mixed", library_files("mixed", partitioned))
    words = [f"TFLM={tree.folder}", f"TFLM_FLAGS={' '.join(tree.flags)}"]
    words += [f"TFLM_LIBRARY={tree.library}", "CFLAGS=-O2 -Werror"]
    done = library_builds.run_make(tmp_path, "example", *words)
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run(
        [tmp_path / "build" / "example" / "main"], capture_output=True, text=True, check=True
    )
    assert "sum of " in said.stdout + said.stderr
