"""``kiwicha gallery``: architectures with random weights."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["gallery"]


def gallery(
    name: Annotated[
        str | None,
        typer.Argument(help="One of the architectures, or a model such as resnet18@96."),
    ] = None,
    size: Annotated[
        int | None, typer.Option(help="Height and width of the input; by default the usual one.")
    ] = None,
    width: Annotated[float | None, typer.Option(help="Factor of the channels.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of the weights.")] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Receives the model; by default its name with .tflite.",
        ),
    ] = None,
    is_unsigned: Annotated[
        bool, typer.Option("--uint8", help="With tensors of uint8; by default they are int8.")
    ] = False,
) -> None:
    """List architectures, or write one as a quantized .tflite file with random weights."""
    import dataclasses

    from rich.table import Table

    from kiwicha.commands import console
    from kiwicha.gallery import catalogue

    if name is None:
        table = Table()
        for title in ("name", "what it is", "usual size", "sizes"):
            table.add_column(title, justify="right" if title == "usual size" else "left")
        for one in catalogue.ARCHITECTURES.values():
            table.add_row(one.name, one.summary, str(one.size), one.sizes)
        console.stdout().print(table)
        return
    model = catalogue.find(name)
    model = dataclasses.replace(
        model,
        size=model.size if size is None else size,
        width=model.width if width is None else width,
        seed=model.seed if seed is None else seed,
        is_unsigned=model.is_unsigned or is_unsigned,
    )
    catalogue.checked(model)
    path = output or Path(f"{model.name}.tflite")
    console.require_writable(path)
    content = model.content()
    console.write_file(path, content)
    typer.echo(f"{path}: {len(content):,} bytes, {model.name}")
