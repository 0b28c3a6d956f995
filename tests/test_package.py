"""What pyproject.toml says of data files and versions, against the tree."""

import re
import tomllib
from fnmatch import fnmatch

from packaging.requirements import Requirement

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
        if requirement.name != "tflite-micro":
            assert requirement.specifier.contains(pinned[requirement.name]), requirement
