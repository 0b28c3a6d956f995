"""``kiwicha web``: a page that simulates a model in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from kiwicha.commands.options import ConfigName, ModelName

__all__ = ["web"]


def web(
    model: ModelName,
    inputs: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            help="What the page begins with, as for kiwicha run; the bundled model has a picture.",
        ),
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Names of the output's elements, one per line.")
    ] = None,
    config: ConfigName = "64",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The page; MODEL.html by default.")
    ] = None,
) -> None:
    """Write a page that simulates a model in the browser of whoever opens it.

    One file with the simulated system as WebAssembly, firmware and Program: no server, nothing
    loaded from elsewhere. Cycles are those of kiwicha run.
    """
    from kiwicha.commands import console, execution
    from kiwicha.sim.web.page import build_web_page
    from kiwicha.zoo import models as zoo

    console.require_writable(output, read=[model, *(inputs or []), labels])
    workload = execution.prepare(model, config, labels)
    path = output or Path(f"{workload.model}.html")
    console.require_writable(path)
    files = inputs or []
    if not files and workload.model == zoo.DEMO:
        files = [zoo.demo_pictures()[0].path]
    raw = execution.model_inputs(workload, files) if files else []
    with console.display() as show:
        text = build_web_page(
            workload.compilation,
            model=workload.model,
            labels=workload.labels,
            examples=[(file.name, item) for file, item in zip(files, raw, strict=True)],
            on_build=show.stage,
        )
    console.write_file(path, text.encode())
    console.stdout().print(f"{path}: {len(text) / 1e6:.1f} MB; open it in a browser")
