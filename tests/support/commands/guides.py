"""Guides whose scripts and commands are run one after the other."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.support.requirements import REPOSITORY

__all__ = ["SCRIPTS", "kiwicha_run", "python_blocks", "run", "script"]

SCRIPTS = REPOSITORY / "docs" / "examples" / "shapes"


def run(folder: Path, *words: str) -> str:
    """Run a command in a folder and give what it prints."""
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def script(folder: Path, *words: str) -> str:
    """Run a script of the folder, with its words."""
    return run(folder, sys.executable, *words)


def kiwicha_run(folder: Path, *words: str) -> str:
    """Run a command of ours."""
    return run(folder, sys.executable, "-m", "kiwicha.cli", *words)


def python_blocks(guide: Path) -> list[str]:
    """Return the pieces of Python that a guide shows."""
    return re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
