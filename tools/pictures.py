"""The pictures of pages that a browser draws: ``python -m tools.pictures [NAME ...]``.

=================  ============================================================================
``report.png``     ``kiwicha report`` of three configurations, 1440 pixels wide
``report-390.png`` The same on a telephone
``notebook.png``   What an interpreter shows at the end of a notebook's cell
``timeline.png``   ``kiwicha trace --picture``
``front.png``      ``kiwicha report`` of what ``kiwicha explore`` has found
=================  ============================================================================

They are measured and drawn anew, in ``docs/pictures``: all of them, or those named. That takes
Chromium, the public models, and minutes.
"""

import argparse
import importlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha import tools
from kiwicha.doctor import install_command
from kiwicha.errors import ToolError
from kiwicha.interpreter.interpreter import Interpreter

__all__ = ["FOLDER", "PICTURES", "Shot", "browser", "main", "shot"]

FOLDER = Path(__file__).parents[1] / "docs" / "pictures"
_DRAWN = "body[data-drawn]"
"""Of a report's page, when its charts are there."""
_MODEL = "person_detect"


@dataclass(frozen=True)
class Shot:
    """How a page is looked at.

    Parameters
    ----------
    width, height : int
        Of the window, in pixels.
    waits_for : str
        Selector of what is drawn last.
    is_whole : bool
        The whole page, however long it is.
    """

    width: int
    height: int
    waits_for: str = _DRAWN
    is_whole: bool = False


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium without a window.

    Raises
    ------
    ToolError
        If it is not installed.
    """
    path = tools.chromium()
    if path is None:
        raise ToolError(f"Chromium must be installed: {install_command('chromium')}")
    with importlib.import_module("playwright.sync_api").sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield started
        started.close()


def shot(page: Path, how: Shot) -> bytes:
    """Return a page as a browser draws it, as PNG.

    Parameters
    ----------
    page : Path
        HTML.
    how : Shot
        Its window.
    """
    with browser() as started:
        window = {"width": how.width, "height": how.height}
        tab = started.new_context(viewport=window).new_page()
        tab.goto(page.resolve().as_uri())
        tab.wait_for_selector(how.waits_for, timeout=60_000)
        return bytes(tab.screenshot(full_page=how.is_whole))


def _run(folder: Path, *words: str) -> None:
    """Run a command as users do: pages show it."""
    program = Path(sys.executable).with_name("kiwicha")
    subprocess.run([program, *words], cwd=folder, check=True)


def _report(folder: Path, how: Shot) -> bytes:
    page = folder / "report.html"
    if not page.exists():
        _run(folder, "bench", _MODEL, "--config", "64,128,256", "--json", "runs.json")
        _run(folder, "report", "runs.json", "-o", page.name)
    return shot(page, how)


def _notebook(folder: Path) -> bytes:
    interpreter = Interpreter("demo", config="64", target="sim")
    interpreter.allocate_tensors()
    interpreter.invoke()
    page = folder / "notebook.html"
    shown = interpreter._repr_html_()
    head = "<!DOCTYPE html><meta charset=utf-8><style>body {font: 13px sans-serif}</style>"
    page.write_text(f"{head}{shown}", encoding="utf-8")
    return shot(page, Shot(760, 100, "table", is_whole=True))


def _timeline(folder: Path) -> bytes:
    _run(folder, "trace", _MODEL, "--picture", "timeline.png")
    return (folder / "timeline.png").read_bytes()


def _front(folder: Path) -> bytes:
    _run(folder, "explore", _MODEL, "kws", "--board", "arty_a7_35", "--json", "study.json")
    _run(folder, "report", "study.json", "-o", "study.html")
    return shot(folder / "study.html", Shot(900, 820))


PICTURES: Mapping[str, Callable[[Path], bytes]] = {
    "report.png": lambda folder: _report(folder, Shot(1440, 1300)),
    "report-390.png": lambda folder: _report(folder, Shot(390, 1300)),
    "notebook.png": _notebook,
    "timeline.png": _timeline,
    "front.png": _front,
}
"""By their names, what makes them in a folder."""


def main(words: Sequence[str] | None = None) -> int:
    """Draw pictures; return 0."""
    parser = argparse.ArgumentParser(description="Draw the pictures of pages anew.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PICTURES)}")
    names = parser.parse_args(words).names or list(PICTURES)
    unknown = sorted({*names} - PICTURES.keys())
    if unknown:
        parser.error(f"picture must be one of {', '.join(PICTURES)}, not {unknown[0]}")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            (FOLDER / name).write_bytes(PICTURES[name](Path(folder)))
            sys.stdout.write(f"docs/pictures/{name} written\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
