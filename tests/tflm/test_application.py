"""A user's tree of TensorFlow Lite Micro: its library, and which commit it is at."""

import subprocess
from pathlib import Path

import pytest

from kiwicha.errors import ToolError
from tools.tflm.application import Tree

MAKEFILE = "tensorflow/lite/micro/tools/make/Makefile"
LIBRARY = "gen/linux_x86_64_default_gcc/lib/libtensorflow-microlite.a"
RULE = f"microlite:\n\t@mkdir -p $(dir {LIBRARY})\n\t@echo made >> {LIBRARY}\n"


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    command = ["git", "-C", str(folder), *who, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / MAKEFILE).parent.mkdir(parents=True)
    (tmp_path / MAKEFILE).write_text(RULE)
    return Tree(tmp_path)


def test_its_own_makefile_makes_the_library_once(tree: Tree) -> None:
    assert tree.library == tree.folder / LIBRARY
    assert tree.library.read_text() == "made\n"


def test_a_library_that_is_there_is_taken(tree: Tree) -> None:
    other = tree.folder / "gen" / "mine" / "lib" / "libtensorflow-microlite.a"
    other.parent.mkdir(parents=True)
    other.touch()
    assert tree.library == other
    assert not (tree.folder / LIBRARY).exists()


def test_a_folder_without_either_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^TFLM must be a tree in which .*, not 0 \("):
        _ = Tree(tmp_path).library


def test_a_commit_with_changes_says_so(tree: Tree) -> None:
    git(tree.folder, "init", "-q")
    git(tree.folder, "add", ".")
    git(tree.folder, "commit", "-q", "-m", "a")
    commit = git(tree.folder, "rev-parse", "HEAD")
    git(tree.folder, "tag", "v1")
    assert tree.commit == commit
    (tree.folder / MAKEFILE).write_text(f"{RULE}# changed\n")
    assert tree.commit == f"{commit}-dirty"


def test_a_folder_without_commits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"^TFLM must be a git checkout: "):
        _ = Tree(tmp_path).commit
