"""Format and style, as ``nox -s lint`` checks them."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import requirements
from tests.support.requirements import REPOSITORY

FOLDERS = ("src", "gateware", "firmware", "sim", "boards", "tests", "tools", "noxfile.py")


def check(*command: str) -> None:
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("command", [("check",), ("format", "--check")], ids=" ".join)
def test_python(command: tuple[str, ...]) -> None:
    requirements.module("ruff", "ruff")
    check(sys.executable, "-m", "ruff", *command, "--no-cache", *FOLDERS)


def test_c() -> None:
    requirements.module("clang_format", "clang-format")
    sources = [
        str(path.relative_to(REPOSITORY))
        for folder in ("firmware", "sim", "tests")
        for path in sorted((REPOSITORY / folder).rglob("*"))
        if path.suffix in {".c", ".h", ".cpp"}
    ]
    assert sources
    check(str(Path(sys.executable).with_name("clang-format")), "--dry-run", "-Werror", *sources)
