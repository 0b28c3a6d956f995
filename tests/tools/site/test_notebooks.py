"""Notebooks run, and are pages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.requirements import REPOSITORY
from tools.site.notebooks import code_cells, notebook_page

NOTEBOOKS = {path.stem: path for path in (REPOSITORY / "docs" / "notebooks").glob("*.ipynb")}


def run(name: str, folder: Path) -> str:
    """Execute the cells of a notebook one after the other; return what they print."""
    cells = code_cells(NOTEBOOKS[name])
    assert not [cell for cell in cells if "%" in cell.lstrip()[:1]]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(cells)],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.nightly
def test_a_model_of_your_own(tmp_path: Path) -> None:
    out = run("own-model", tmp_path)
    assert "total " in out
    assert " cycles, " in out


@pytest.mark.verilator
def test_where_the_cycles_go(tmp_path: Path) -> None:
    out = run("where-the-cycles-go", tmp_path)
    assert "CONV_2D" in out
    assert "% of the multipliers" in out


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_outputs(name: str) -> None:
    notebook = json.loads(NOTEBOOKS[name].read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert not cell.get("execution_count")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_page_has_text_and_code(name: str) -> None:
    text = notebook_page(NOTEBOOKS[name])
    assert text.startswith("# ")
    assert f"[{name}.ipynb]({name}.ipynb)" in text
    for cell in code_cells(NOTEBOOKS[name]):
        assert f"```python\n{cell}\n```" in text
