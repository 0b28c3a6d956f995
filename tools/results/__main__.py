"""Command line of the committed results: ``python -m tools.results``, ``make results``."""

import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from kiwicha import cli
from kiwicha.commands import console
from kiwicha.errors import KiwichaError, UsageError
from tools import (
    camera,
    microphone_share,
    onnx_draws,
    reference_sweep,
    soak,
    sound_share,
    times,
    transcript,
)
from tools.beside import __main__ as beside
from tools.documents.__main__ import update
from tools.results import present
from tools.results.bars import missed
from tools.results.catalogue import catalogue, chosen
from tools.results.planned import planned
from tools.results.result import Fingerprint, Result, changed
from tools.tflm import __main__ as tflm

__all__ = ["app", "main"]

_RUNNERS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "kiwicha": cli.main,
    "python -m tools.onnx_draws": onnx_draws.main,
    "python -m tools.reference_sweep": reference_sweep.main,
    "python -m tools.soak": soak.main,
    "python -m tools.sound_share": sound_share.main,
    "python -m tools.microphone_share": microphone_share.main,
    "python -m tools.beside": beside.main,
    "python -m tools.camera": camera.main,
    "python -m tools.transcript": transcript.main,
    "python -m tools.tflm": tflm.main,
    "python -m tools.times": times.main,
}

app = typer.Typer(add_completion=False)


@app.command()
def results(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Results, or folders of them; by default all.", metavar="[NAME]..."),
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Measure anew: those named, or all that are stale.")
    ] = False,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --renew: keep those runs of benches that are fresh."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="For a release: exit 1 if a result is stale or misses its bar."
        ),
    ] = False,
) -> None:
    """List results, whether they are stale and why, and what renewing took; write the pages.

    A result is stale if the hardware, firmware, Program, options or tools that it measured are not
    those of this tree. Nothing but --check asks for results that are not stale.
    """
    project = Path()
    if renew and check:
        raise UsageError("--renew must come without --check")
    if resume and not renew:
        raise UsageError("--resume must come with --renew")
    found = chosen([*catalogue(project), *planned(project)], names or [])
    now, failures = _fingerprints(found)
    if renew:
        wanted = [one for one in found if names or _reasons(one, now, failures)]
        _renew(wanted, resume=resume)
        found = chosen(catalogue(project), names or [])
        now.update(_fingerprints([one for one in found if one.name in {w.name for w in wanted}])[0])
    console.stdout().print(_table(found, now, failures))
    problems = [one.name for one in found if _reasons(one, now, failures)]
    if check:
        problems += [] if names else missed(found)
        if not names and present.read(project) != now:
            problems.append("the pages are of other hardware: run make results")
        for problem in problems:
            typer.echo(problem, err=True)
        raise typer.Exit(int(bool(problems)))
    # Those that were not looked at now keep what was found before.
    known = {one.name for one in catalogue(project)}
    both = {**present.read(project), **now}
    present.write(project, {name: kept for name, kept in both.items() if name in known})
    for name in update(project, is_check=False):
        typer.echo(f"{name} written", err=True)


def _fingerprints(
    found: Sequence[Result],
) -> tuple[dict[str, Fingerprint], dict[str, str]]:
    """Return what each result would record now; for some instead why that cannot be told."""
    now: dict[str, Fingerprint] = {}
    failures: dict[str, str] = {}
    with console.display() as show:
        for one in found:
            show.stage(f"hashing what {one.name} measures")
            try:
                now[one.name] = one.kind.present(one.contents)
            except KiwichaError as error:
                # What follows a colon is the remedy.
                failures[one.name] = str(error).partition(": ")[0]
    return now, failures


def _reasons(one: Result, now: Mapping[str, Fingerprint], failures: Mapping[str, str]) -> str:
    """Say why a result is not known to be fresh; empty if it is."""
    if one.name in failures:
        return f"cannot be told: {failures[one.name]}"
    if not any(one.recorded.values()):
        return "has no hashes"
    what = changed(one.recorded, now[one.name])
    return f"changed: {', '.join(what)}" if what else ""


def _table(
    found: Sequence[Result], now: Mapping[str, Fingerprint], failures: Mapping[str, str]
) -> Table:
    table = Table(title="results")
    for column in ("result", "measured", "state", "renewing took"):
        table.add_column(column, justify="right" if column == "renewing took" else "left")
    for one in found:
        state = _reasons(one, now, failures) or "fresh"
        table.add_row(one.name, one.digest, state, _time(one.seconds))
    stale = [one for one in found if _reasons(one, now, failures)]
    table.add_section()
    total = _time(sum(one.seconds or 0 for one in stale))
    table.add_row("all", "", f"{len(stale)} of {len(found)} to renew", total)
    return table


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "not recorded"
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _renew(wanted: Sequence[Result], *, resume: bool) -> None:
    """Run the command of each result, one after the other.

    Raises
    ------
    UsageError
        If one cannot be measured; those before it are renewed.
    """
    for number, one in enumerate(wanted, start=1):
        typer.echo(f"{number} of {len(wanted)}: {one.command} ({_time(one.seconds)})", err=True)
        program = next(name for name in _RUNNERS if one.command.startswith(f"{name} "))
        words = shlex.split(one.command.removeprefix(program))
        if resume and words[0] == "bench":
            words.append("--resume")
        code = _RUNNERS[program](words)
        # 1 says that the clock is not met, for instance; that has been measured.
        if code not in {0, 1}:
            raise UsageError(f"command must end with exit status 0 or 1, not {code} ({one.name})")


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    try:
        code = app(words, prog_name="python -m tools.results", standalone_mode=False)
    except KiwichaError as error:
        typer.echo(f"error: {error}", err=True)
        return 2
    return int(code or 0)


if __name__ == "__main__":
    sys.exit(main())
