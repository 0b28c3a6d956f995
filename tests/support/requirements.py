"""What tests need from outside: a missing thing skips the test, and fails it where CI is set."""

import functools
import importlib
import os
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest

from kiwicha import tools

__all__ = [
    "REPOSITORY",
    "SHARED_MODELS",
    "browser",
    "find_in_models",
    "models_folders",
    "module",
    "unavailable",
]

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED_MODELS = REPOSITORY.parent / "shared" / "models"
"""Public models with golden outputs, beside a checkout."""


def unavailable(reason: str, *, is_failure_in_ci: bool = True) -> NoReturn:
    """Skip the running test or module; in continuous integration fail it.

    Parameters
    ----------
    reason : str
        What is missing and what would provide it.
    is_failure_in_ci : bool
        False: skip there, too.
    """
    if os.environ.get("CI") and is_failure_in_ci:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason, allow_module_level=True)


@functools.cache
def _imported(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def module(name: str, package: str) -> ModuleType:
    """Return an optional module, or skip the running test.

    Parameters
    ----------
    name : str
        As in an import statement.
    package : str
        What to install for it.
    """
    found = _imported(name)
    if found is None:
        unavailable(f"needs module {name}: pip install {package}")
    return found


def browser() -> str:
    """Return the path of Chromium, or skip the running test, in continuous integration too."""
    found = tools.chromium()
    if found is None:
        unavailable("needs a browser: apt-get install chromium", is_failure_in_ci=False)
    return found


def models_folders() -> list[Path]:
    """Return the folders to search for models: those of KIWICHA_MODELS, then the shared one."""
    named = os.environ.get("KIWICHA_MODELS", "").split(":")
    return [Path(folder) for folder in named if folder] + [SHARED_MODELS]


def find_in_models(relative: str) -> Path:
    """Return the first file or folder of this name in the models folders, or skip the test.

    A missing one is a failure in continuous integration only where the shared folder exists.
    """
    folders = models_folders()
    for folder in folders:
        if (folder / relative).exists():
            return folder / relative
    searched = ", ".join(str(folder) for folder in folders)
    unavailable(
        f"needs {relative} in one of {searched}; set KIWICHA_MODELS",
        is_failure_in_ci=SHARED_MODELS.is_dir(),
    )
