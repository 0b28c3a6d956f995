"""Types, as ``nox -s types`` and ``make lint`` check them by day."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support import requirements
from tests.support.requirements import REPOSITORY


@pytest.mark.nightly
def test_types(tmp_path: Path) -> None:
    requirements.module("mypy", "mypy")
    # mypy follows neither an editable installation nor the mapped folders: show it one tree.
    pyproject = REPOSITORY / "pyproject.toml"
    folders = tomllib.loads(pyproject.read_text())["tool"]["setuptools"]["package-dir"]
    root = tmp_path / "kiwicha"
    root.mkdir()
    for path in (REPOSITORY / folders["kiwicha"]).iterdir():
        (root / path.name).symlink_to(path)
    for package, folder in folders.items():
        if package != "kiwicha":
            (root / package.partition(".")[2]).symlink_to(REPOSITORY / folder)
    for folder in ("tests", "tools"):
        (tmp_path / folder).symlink_to(REPOSITORY / folder)
    cache = REPOSITORY / "build" / "mypy"
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(pyproject), "--cache-dir", str(cache)],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
