"""What is installed: data files and versions of pyproject.toml, and the contents of the wheel."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from tests.support import requirements
from tests.support.requirements import REPOSITORY

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]


def test_every_data_file_is_installed() -> None:
    patterns = SETUPTOOLS["package-data"]
    missing = []
    for package, folder in SETUPTOOLS["package-dir"].items():
        root = REPOSITORY / folder
        for path in root.rglob("*"):
            if path.suffix in {".py", ".pyc"} or not path.is_file() or path.name.startswith("."):
                continue
            inner = path.relative_to(root)
            covered = any(
                fnmatch(inner.as_posix(), pattern.replace("**/", "*"))
                for pattern in patterns.get(package, [])
            ) or any(
                fnmatch(inner.name, pattern)
                for pattern in patterns.get(".".join((package, *inner.parts[:-1])), [])
            )
            if not covered:
                missing.append(str(path.relative_to(REPOSITORY)))
    assert not missing


def test_constraints_are_names_and_versions_that_fit_the_ranges() -> None:
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", line)] == []
    pinned = dict(line.split("==") for line in lines)
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    wanted = [*PYPROJECT["project"]["dependencies"], *(item for extra in extras for item in extra)]
    for requirement in map(Requirement, wanted):
        if requirement.name not in {"tflite-micro", "kiwicha"}:
            assert requirement.specifier.contains(pinned[requirement.name]), requirement


def test_all_is_every_extra_that_commands_use() -> None:
    extras = PYPROJECT["project"]["optional-dependencies"]
    (everything,) = map(Requirement, extras["all"])
    assert everything.name == PYPROJECT["project"]["name"]
    assert everything.extras == set(extras) - {"all", "coverage", "docs", "fuzz", "test", "train"}


WHEEL = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the wheel's contents, built of a copy without what earlier builds left."""
    backend = requirements.module("setuptools", "setuptools>=77")
    if int(backend.__version__.split(".")[0]) < 77:
        requirements.unavailable(f"needs setuptools 77 or later, not {backend.__version__}")
    tree, target = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(REPOSITORY / name, tree)
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for folder in ("src", "gateware", "firmware", "sim", "boards", "tests", "tools"):
        shutil.copytree(REPOSITORY / folder, tree / folder, ignore=ignored)
    done = subprocess.run(
        [sys.executable, "-c", WHEEL, str(target)],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (path,) = target.glob("kiwicha-*.whl")
    with ZipFile(path) as archive:
        archive.extractall(target / "site")
    return target / "site"


@pytest.fixture(scope="module")
def wheel(installed: Path) -> set[str]:
    """Give the names of the wheel's files."""
    names = {path.relative_to(installed).as_posix() for path in installed.rglob("*")}
    return {name for name in names if ".dist-info" not in name and (installed / name).is_file()} - {
        name for name in names if "__pycache__" in name
    }


def test_the_wheel_holds_every_file_of_the_packages(wheel: set[str]) -> None:
    expected = set()
    for package, folder in SETUPTOOLS["package-dir"].items():
        root = REPOSITORY / folder
        for path in root.rglob("*"):
            is_hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
            if path.is_file() and path.suffix != ".pyc" and not is_hidden:
                expected.add(f"{package.replace('.', '/')}/{path.relative_to(root).as_posix()}")
    assert wheel == expected


def test_the_wheel_holds_no_tests_benches_proofs_and_generators(wheel: set[str]) -> None:
    assert {name.partition("/")[0] for name in wheel} == {"kiwicha"}
    pattern = r"(.*/)?(tests?/.*|tools/.*|(test|bench|tb|proof)_\w*\.py|conftest\.py)"
    assert [name for name in wheel if re.fullmatch(pattern, name)] == []
    for name in wheel:
        if name.endswith(".py"):
            source = REPOSITORY / source_of(name)
            loaded = re.findall(
                r"^ *(?:from|import) (\w+)", source.read_text("utf-8"), re.MULTILINE
            )
            assert not {"tests", "tools", "cocotb", "pytest"} & set(loaded), name


def run_installed(installed: Path, folder: Path, *arguments: str) -> str:
    """Run the command of the wheel in an empty folder with an empty cache; return its output."""
    command = "import kiwicha, sys; from kiwicha.cli import main; print(kiwicha.__file__); main()"
    (folder / "empty").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=folder / "empty",
        env={
            **os.environ,
            "PYTHONPATH": str(installed),
            "KIWICHA_CACHE": str(folder / "cache"),
            "KIWICHA_MODELS": "",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(installed))
    return done.stdout


def test_the_wheel_runs_a_model(installed: Path, tmp_path: Path) -> None:
    assert "face" in run_installed(installed, tmp_path, "run", "demo", "--target", "reference")


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_wheel_runs_the_demo_with_an_empty_cache(installed: Path, tmp_path: Path) -> None:
    assert "bit-exact" in run_installed(installed, tmp_path, "demo")


def source_of(name: str) -> str:
    """Return the path in the repository of a file of the wheel."""
    package, folder = max(
        (
            (package.replace(".", "/"), folder)
            for package, folder in SETUPTOOLS["package-dir"].items()
            if name.startswith(package.replace(".", "/") + "/")
        ),
        key=lambda item: len(item[0]),
    )
    return folder + name.removeprefix(package)


def test_each_dependency_says_what_it_is_for() -> None:
    """The line of a requirement ends with a comment."""
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    extras = PYPROJECT["project"]["optional-dependencies"].values()
    for item in [
        *PYPROJECT["project"]["dependencies"],
        *(one for extra in extras for one in extra),
    ]:
        lines = [line for line in text.splitlines() if line.strip().startswith(f'"{item}"')]
        assert lines
        assert [line for line in lines if not re.search(r'", *# \w', line)] == []
