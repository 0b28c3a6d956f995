"""``kiwicha report``: runs as a page to look at."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["report"]


def report(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN.json ...", help="What run, bench or explore wrote with --json."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Receives the page.")
    ] = Path("report.html"),
) -> None:
    """Write one self-contained page: cycles, roofline, memory and traffic of every layer."""
    from kiwicha.commands import console
    from kiwicha.commands.made import made
    from kiwicha.html_report import build_page, read_files

    console.require_writable(output, read=runs)
    found, study = read_files(runs)
    with console.display() as show:
        text = "{date}, by Kiwicha {version}: {command}".format(**made())
        page = build_page(
            found, study, lambda: show.stage("bundling the charting library"), made=text
        )
    console.write_file(output, page.encode())
    typer.echo(f"{output}: {len(found)} runs, {len(page.encode()):,} bytes")
