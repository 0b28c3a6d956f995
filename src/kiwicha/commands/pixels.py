"""``kiwicha pixels``: an ONNX model that takes images as cameras give them."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["pixels"]


def pixels(
    model: Annotated[Path, typer.Argument(help="An .onnx file with images in planes, NCHW.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Receives the model; by default its name with -pixels.",
        ),
    ] = None,
) -> None:
    """Write the same ONNX model for images of pixels, NHWC: no cycle is spent on their order."""
    from kiwicha.commands import console
    from kiwicha.compiler.onnx.pixels import with_pixels

    path = output or model.with_name(f"{model.stem}-pixels{model.suffix}")
    console.require_writable(path, read=[model])
    content, names = with_pixels(console.read_file(model, "model file"))
    console.write_file(path, content)
    typer.echo(f"{path}: pixels at {', '.join(names)}")
