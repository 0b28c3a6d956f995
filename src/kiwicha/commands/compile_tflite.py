"""``kiwicha compile --format tflite``: a model for TensorFlow Lite Micro, and its library."""

from dataclasses import dataclass
from pathlib import Path

import typer

from kiwicha.commands import console
from kiwicha.contract.configs import Config
from kiwicha.contract.detect import Detect
from kiwicha.contract.goal import Goal

__all__ = ["TFLITE_SUFFIX", "Settings", "write_tflite"]

TFLITE_SUFFIX = ".kiwicha.tflite"
"""Not that of the source, which may lie in the same folder."""


@dataclass(frozen=True)
class Settings:
    """What is compiled, and how.

    Parameters
    ----------
    name : str
        Of the model.
    path : Path
        Its file.
    config : Config
        What it is compiled for.
    optimize, eliminate, detect
        Of the compiler.
    """

    name: str
    path: Path
    config: Config
    optimize: Goal
    eliminate: bool
    detect: Detect


def write_tflite(settings: Settings, output: Path | None, json: str | None) -> None:
    """Compile a model, write it and its library, and print what is computed by whom.

    Parameters
    ----------
    settings : Settings
        What is compiled.
    output : Path or None
        Folder; None: that of the model and the configuration.
    json : str or None
        Receives sizes; ``-`` is stdout.
    """
    from kiwicha.library import pack
    from kiwicha.tflm import divide, tflm_files, write_model

    name, config = settings.name, settings.config.name
    with console.refusals(json):
        partitioned = divide(
            console.read_file(settings.path, "model file"),
            settings.config,
            optimize=settings.optimize,
            eliminate=settings.eliminate,
            detect=settings.detect,
        )
    model = write_model(f"{name}, compiled by Kiwicha for {config}", partitioned)
    folder = console.make_folder(output or Path("build") / f"{name}-{config}")
    binary = folder / f"{name}{TFLITE_SUFFIX}"
    console.write_file(binary, model)
    console.write_file(folder / f"{name}.tar.gz", pack(tflm_files(name, partitioned, model), name))
    parts = partitioned.partitions
    if json is not None:
        facts = {
            "model": name,
            "config": config,
            "model_bytes": len(model),
            "partitions": [
                {
                    "operators": [item.operators.start, item.operators.stop - 1],
                    "program_bytes": len(item.compilation.program.to_bytes()),
                    "arena_bytes": item.compilation.program.arena_bytes,
                }
                for item in parts
            ],
            "left": list(partitioned.left),
        }
        console.write_json(json, facts)
    if json != console.STDOUT:
        for text in partitioned.left:
            typer.echo(f"operator {text} stays TensorFlow Lite Micro's own")
        typer.echo(
            f"{binary}: {len(model):,} bytes, Programs: {len(parts)}, other operators: "
            f"{len(partitioned.left)}, for {config}"
        )
