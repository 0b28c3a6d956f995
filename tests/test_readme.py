"""The commands of README.md: those of the quick start run as they are written, all are known."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer

from kiwicha import cli
from kiwicha.zoo import models as zoo
from tests.support import requirements
from tests.support.commands.command_line import Command
from tests.support.commands.example_runs import example_run
from tests.support.requirements import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def commands(text: str) -> list[str]:
    """Give the lines of a document's blocks of commands."""
    blocks = re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line]


RECORDING = "yes_1000ms.wav"
QUICK_START = commands(README.partition("## Quick start")[2].partition("\n## ")[0])
OURS = [line for line in QUICK_START if line.startswith("kiwicha ")]
MARKS = {
    "demo": [pytest.mark.verilator],
    "run": [pytest.mark.verilator],
    "bench": [pytest.mark.verilator, pytest.mark.nightly],
    "report": [pytest.mark.nightly],
    "area": [pytest.mark.synth],
}
"""Tools that are needed. What takes minutes, and what reads its file, is run at night."""


def test_the_quick_start_shows_the_commands_that_matter() -> None:
    assert {line.split()[1] for line in OURS} >= {"demo", "run", "compile", "bench", "report"}
    assert all(line.split()[0] in {"make", "pip", "kiwicha"} for line in QUICK_START)


@pytest.mark.parametrize("line", [line for line in commands(README) if line.startswith("kiwicha ")])
def test_every_command_has_options_that_exist(line: str) -> None:
    command = typer.main.get_command(cli.app)
    name, *words = shlex.split(line)
    while words:
        context = command.make_context(name, list(words), resilient_parsing=False)
        if not hasattr(command, "resolve_command"):
            return
        rest = [*context._protected_args, *context.args]
        found, command, words = command.resolve_command(context, rest)
        assert found
        assert command
        name = found
    command.make_context(name, [])


def test_every_target_of_make_exists() -> None:
    known = set(re.findall(r"^(\w[\w-]*):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
    named = {line.split()[1] for line in QUICK_START if line.startswith("make ")}
    named |= set(re.findall(r"`make ([\w-]+)`", README))
    assert "wheel" in named
    assert named <= known


def test_the_wheel_has_the_name_that_make_gives_it() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (line,) = (line for line in QUICK_START if line.startswith("pip "))
    wheel = f"{project['name']}-{project['version']}-py3-none-any.whl"
    assert line == f"pip install build/wheel/{wheel}"
    assert "--wheel-dir build/wheel " in (REPOSITORY / "Makefile").read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a picture and a model of the user, in which commands run in a row."""
    path = tmp_path_factory.mktemp("readme")
    shutil.copy(zoo.demo_pictures()[0].path, path / "photo.png")
    shutil.copy(zoo.demo_model()[0], path / "my_model.tflite")
    return path


@pytest.mark.parametrize(
    "line",
    [pytest.param(line, marks=MARKS.get(line.split()[1], [])) for line in OURS],
)
def test_a_command_of_the_quick_start_runs(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, folder: Path, line: str
) -> None:
    words = shlex.split(line)[1:]
    for name in {"person_detect", "kws", "micro_speech"} & set(words):
        path = requirements.find_in_models(zoo.find(name).file)
        monkeypatch.setenv("KIWICHA_MODELS", str(path.parent))
    if RECORDING in words:
        shutil.copy(requirements.find_in_models(f"inputs/{RECORDING}"), folder / RECORDING)
    monkeypatch.chdir(folder)
    if words[0] == "report":
        # Another worker may run the bench that the README has before it.
        (folder / "runs.json").write_text(json.dumps([example_run()]))
    code, out, err = kiwicha(*words)
    assert code == 0, err
    assert out + err
    if words[0] == "listen":
        (shown,) = re.findall(r"^```text\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
        assert out == shown


def test_pictures_of_the_readme_exist() -> None:
    pictures = re.findall(r"!\[[^]]+\]\(([^)]+)\)", README)
    assert {"docs/pictures/demo.svg", "docs/pictures/report.png"} <= set(pictures)
    assert [name for name in pictures if not (REPOSITORY / name).is_file()] == []


def test_make_does_what_the_readme_says() -> None:
    done = subprocess.run(
        ["make", "-n", "--no-print-directory", "demo", f"PYTHON={sys.executable}", "VENV=nowhere"],
        cwd=REPOSITORY,
        # Not what make gave to the tests.
        env={
            name: value for name, value in os.environ.items() if name not in {"ARGS", "MAKEFLAGS"}
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.rstrip().endswith("nowhere/bin/kiwicha demo")


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_first_commands_work_in_an_environment_of_their_own(tmp_path: Path) -> None:
    """`make test` is not among them: it runs these tests."""
    tree = tmp_path / "tree"
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, tree / name)
    first = QUICK_START[: QUICK_START.index("make demo") + 1]
    assert [line.split()[0] for line in first] == ["make", "pip", "kiwicha", "make"]
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    left_out = {"ARGS", "MAKEFLAGS", "PYTHONPATH", "VIRTUAL_ENV", "VENV"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    for line in first:
        inside = {} if line == first[-1] else {"VIRTUAL_ENV": str(tmp_path / "env")}
        path = f"{tmp_path / 'env' / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            shlex.split(line),
            cwd=tree,
            env={**environment, **inside, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        if re.search(r"(Could not find a version|Connection|Temporary failure)", done.stderr):
            requirements.unavailable("needs a package index", is_failure_in_ci=False)
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
