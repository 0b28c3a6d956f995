"""What commands print and write: results to standard output, progress to standard error."""

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from kiwicha.errors import Interrupted, UnsupportedModelError, UsageError

__all__ = [
    "STDOUT",
    "Display",
    "display",
    "make_folder",
    "read_file",
    "refusals",
    "require_writable",
    "stdout",
    "write_file",
    "write_json",
]

STDOUT = "-"
"""File name that means standard output."""
_PIPE_COLUMNS = 160
"""Width of tables that go to a file or a pipe: none of their columns is cut."""


def stdout() -> Console:
    """Return the console that results go to; it prints text and cells of tables as they are."""
    console = _literal(soft_wrap=True)
    return console if console.is_terminal else _literal(width=_PIPE_COLUMNS)


def _literal(**options: Any) -> Console:
    # Paths, labels and names in models may hold [brackets] and :colons:, rich's marks for styles.
    return Console(markup=False, emoji=False, highlight=False, **options)


class Display:
    """Progress of one command: a bar on a terminal, one line per stage elsewhere.

    Parameters
    ----------
    console : Console
        Where it shows.
    progress : Progress
        The bars, running.
    """

    def __init__(self, console: Console, progress: Progress) -> None:
        self._console = console
        self._progress = progress
        self._task = progress.add_task("starting", total=None)
        self.kept = "finished builds"
        """What is not lost when the user ends the command with Ctrl-C."""

    def stage(self, text: str) -> None:
        """Show that a stage of unknown length has begun."""
        self._progress.reset(self._task, description=text, total=None)
        if not self._console.is_terminal:
            self._console.print(text)

    def steps(self, text: str, weights: list[int]) -> Callable[[int, int], None]:
        """Show a stage of known steps and return what reports its progress.

        Parameters
        ----------
        text : str
            What runs.
        weights : list of int
            Expected length of each step, in any unit.

        Returns
        -------
        callable
            Takes simulated cycles and finished steps.
        """
        start: tuple[float, int] | None = None

        def report(cycles: int, finished: int) -> None:
            nonlocal start
            # Building may come first: this stage begins when it first reports.
            if start is None:
                self.stage(text)
                start = time.monotonic(), cycles
            speed = (cycles - start[1]) / max(1e-3, time.monotonic() - start[0])
            self._progress.update(
                self._task,
                total=max(1, sum(weights)),
                completed=sum(weights[:finished]),
                description=f"{text}: {cycles / 1e6:,.1f} M cycles, {speed / 1e6:.2f} M/s",
            )

        return report

    def bytes(self, text: str, total: int) -> Callable[[int], None]:
        """Show a transfer and return what reports the number of bytes received."""
        self.stage(text)
        self._progress.update(self._task, total=total)
        return lambda received: self._progress.update(self._task, completed=received)

    def count(self, text: str, total: int, kept: str | None = None) -> Callable[[int], None]:
        """Show a stage of equal parts and return what reports the number of finished ones.

        Parameters
        ----------
        text : str
            What runs.
        total : int
            How many parts there are.
        kept : str or None
            Their name and place, if finished ones are not lost when the user ends the command.
        """
        self.stage(text)
        self._progress.update(self._task, total=total)

        def report(finished: int) -> None:
            if kept is not None:
                self.kept = f"{finished:,} of {total:,} {kept}"
            self._progress.update(self._task, completed=finished)

        return report

    def line(self, text: str) -> None:
        """Show a line that stays."""
        self._console.print(text)


@contextmanager
def display() -> Iterator[Display]:
    """Show progress on standard error while the block runs.

    Raises
    ------
    Interrupted
        In place of a KeyboardInterrupt; tells what is kept.
    """
    console = _literal(stderr=True, soft_wrap=True)
    description = TextColumn("{task.description}", markup=False)
    columns = (SpinnerColumn(), description, BarColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    show = Display(console, progress)
    try:
        with progress:
            yield show
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; kept: {show.kept}; run the same command again to continue"
        ) from error


def require_writable(*names: Path | str | None, read: Iterable[Path | str | None] = ()) -> None:
    """Check that output files can be made, before work starts.

    Parameters
    ----------
    *names : Path, str or None
        Of output files; None is none, and ``-`` is standard output.
    read : iterable of Path, str or None
        Files that the command reads.

    Raises
    ------
    UsageError
        If a name is a folder, its folder does not exist, one of them may not be written, or it is
        a file that the command also reads or writes.
    """
    taken = {os.path.realpath(name) for name in read if name is not None}
    for name in names:
        if name is None or name == STDOUT:
            continue
        path = Path(name)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise UsageError(f"output must be a file in an existing folder, not {path}")
        place = path if path.exists() else path.absolute().parent
        if not os.access(place, os.W_OK):
            raise UsageError(f"output must be writable, but {place} is not ({path})")
        if os.path.realpath(path) in taken:
            raise UsageError(
                f"output must be a file of its own, not {path}, "
                "which the command also reads or writes"
            )
        if path.is_file() or not path.exists():
            # A device such as /dev/null may be named more than once.
            taken.add(os.path.realpath(path))


def read_file(path: Path, what: str) -> bytes:
    """Return the contents of a file that the user named."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{what} must be a readable file: {error.strerror} ({path})") from error


def make_folder(folder: Path) -> Path:
    """Make the folder that the user named with ``-o``, unless it is there, and return it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"-o must be a folder: {error.strerror} ({folder})") from error
    return folder


def write_file(path: Path, raw: bytes) -> None:
    """Write a file that the user named."""
    try:
        path.write_bytes(raw)
    except OSError as error:
        raise UsageError(f"output must be writable: {error.strerror} ({path})") from error


@contextmanager
def refusals(json: str | None) -> Iterator[None]:
    """Write a refusal of a model where the result would go, as JSON, before it is raised.

    Parameters
    ----------
    json : str or None
        File, or ``-`` for standard output; None writes nothing.
    """
    try:
        yield
    except UnsupportedModelError as error:
        if json is not None:
            write_json(json, error.to_json())
        raise


def write_json(name: str, value: Any) -> None:
    """Write JSON to a file or, for ``-``, to standard output."""
    text = json.dumps(value, indent=2) + "\n"
    if name == STDOUT:
        _literal(soft_wrap=True).out(text, end="")
    else:
        write_file(Path(name), text.encode())
