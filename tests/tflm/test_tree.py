"""Models in an application of TensorFlow Lite Micro; needs TFLM, a tree that is built."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.contract.configs import find_config
from kiwicha.tflm import divide
from tests.support import library_builds
from tests.support.models import random_networks
from tests.tflm.models import mixed
from tools.tflm.__main__ import compare
from tools.tflm.application import Tree, build_plain, build_with_operator

TREE = os.environ.get("TFLM")
pytestmark = pytest.mark.skipif(
    TREE is None,
    reason="TFLM must be a built tree of TensorFlow Lite Micro",
)
NAMES = ("hello_world_int8", "person_detect", "mlperf_kws_ref_model")


@pytest.fixture(scope="module")
def tree() -> Tree:
    assert TREE is not None
    return Tree(Path(TREE).resolve())


@pytest.fixture(scope="module")
def plain(tree: Tree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_plain(tree, tmp_path_factory.mktemp("plain"))


def check(tree: Tree, plain: Path, model: Path, folder: Path) -> None:
    found = compare(tree, plain, model, folder)
    assert found["outcome"] == "equal"
    assert found["bytes"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_every_byte_is_that_of_plain_tflm(
    tree: Tree, plain: Path, zoo_model: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    check(tree, plain, zoo_model(name), tmp_path / "library")


@pytest.mark.parametrize("model", [mixed(), random_networks.network(0).model], ids=["mixed", "all"])
def test_made_models(tree: Tree, plain: Path, model: bytes, tmp_path: Path) -> None:
    path = tmp_path / "made.tflite"
    path.write_bytes(model)
    assert len(divide(model, find_config("baseline")).partitions) in {1, 2}
    check(tree, plain, path, tmp_path / "library")


def test_the_example_is_built_and_runs(tree: Tree, tmp_path: Path) -> None:
    partitioned = divide(mixed(), find_config("baseline"))
    assert partitioned.left
    build_with_operator(tree, tmp_path, "mixed", partitioned)
    words = [f"TFLM={tree.folder}", f"TFLM_FLAGS={' '.join(tree.flags)}"]
    words += [f"TFLM_LIBRARY={tree.library}", "CFLAGS=-O2 -Werror"]
    done = library_builds.run_make(tmp_path, "example", *words)
    assert (done.returncode, done.stderr) == (0, "")
    said = subprocess.run(
        [tmp_path / "build" / "example" / "main"], capture_output=True, text=True, check=True
    )
    assert "sum of " in said.stdout + said.stderr
