"""Fixtures that several folders of tests use."""

import gc
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support import requirements, tiers
from tests.support.commands.command_line import Command

GoldenFinder = Callable[[str], "list[Golden]"]


@dataclass(frozen=True)
class Golden:
    """An input of a model and the output that TensorFlow Lite Micro gives for it."""

    name: str
    input: bytes
    output: bytes


def pytest_collection_finish() -> None:
    """Let Python's collector leave out what stays to the end: all tests and modules."""
    gc.freeze()


_RUNNING: list[pytest.Item] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note which test runs, for `guarded_builds`."""
    _RUNNING[:] = [item]
    return (yield)


@pytest.fixture(scope="session", autouse=True)
def guarded_builds() -> Iterator[None]:
    """Fail tests that build what their markers do not tell."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        tiers.guard_builds(
            monkeypatch, lambda: {mark.name for item in _RUNNING for mark in item.iter_markers()}
        )
        yield


@pytest.fixture
def kiwicha(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def empty_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Give a machine that has neither public models nor anything built."""
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("KIWICHA_MODELS", raising=False)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start a browser without a window."""
    playwright = requirements.module("playwright.sync_api", "playwright")
    executable = requirements.browser()
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def zoo_model() -> Callable[[str], Path]:
    """Return a function that gives the path of a public model, ``name`` being its file's stem."""
    return lambda name: requirements.find_in_models(f"{name}.tflite")


@pytest.fixture(scope="session")
def golden_cases() -> GoldenFinder:
    """Return a function that gives the goldens of a public model, at least one."""

    def find(name: str) -> list[Golden]:
        folder = requirements.find_in_models(f"golden/{name}")
        goldens = []
        for path in sorted(folder.glob("*.in.bin")):
            stem = path.name.removesuffix(".in.bin")
            expected = path.with_name(f"{stem}.out.bin")
            goldens.append(Golden(stem, path.read_bytes(), expected.read_bytes()))
        if not goldens:
            requirements.unavailable(f"needs *.in.bin in {folder}")
        return goldens

    return find
