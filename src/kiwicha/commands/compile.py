"""``kiwicha compile``: a model as a Program on disk."""

import enum
import functools
import time
from pathlib import Path
from typing import Annotated

import typer

from kiwicha.commands.compile_tflite import Settings, write_tflite
from kiwicha.commands.options import (
    BoardName,
    ConfigName,
    DetectBy,
    Eliminate,
    ModelName,
    Optimize,
)
from kiwicha.contract.detect import Detect
from kiwicha.contract.goal import Goal
from kiwicha.errors import UsageError

__all__ = ["PROGRAM_SUFFIX", "Format", "compile_"]

PROGRAM_SUFFIX = ".kiwicha"


class Format(enum.StrEnum):
    """What `compile_` writes."""

    PROGRAM = "program"
    TFLITE = "tflite"


def compile_(
    model: ModelName,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Folder that receives Program, listing, and the model as a library for C and "
            "C++; by default build/MODEL-CONFIG.",
        ),
    ] = None,
    config: ConfigName = "simd",
    board: BoardName = None,
    optimize: Optimize = Goal.CYCLES,
    eliminate: Eliminate = True,
    detect: DetectBy = Detect.HOST,
    double_buffer: Annotated[
        bool,
        typer.Option(
            "--double-buffer/--single-buffer",
            help="Have two places in memory for inputs and outputs, so that the next inputs can be "
            "written while the model runs.",
        ),
    ] = False,
    format_: Annotated[
        Format,
        typer.Option(
            "--format",
            help="What to write: a Program and its library, or a .tflite file for TensorFlow Lite "
            "Micro, in which what is supported is an operator with a Program inside.",
        ),
    ] = Format.PROGRAM,
    dump: Annotated[
        str | None,
        typer.Option(
            metavar="STAGE",
            help="Print what a stage gave: read, fold, check, lower, eliminate, pad, select, "
            "operations, regions, schedule, generate, code, kernels, overlap, allocate or emit. "
            "Files are then written only with -o.",
        ),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option(help="Receives sizes and, for an engine, predictions; - is stdout."),
    ] = None,
    is_watched: Annotated[
        bool,
        typer.Option(
            "--watch", help="Compile again whenever the model's file changes, until Ctrl-C."
        ),
    ] = False,
) -> None:
    """Compile a model for a configuration."""
    from kiwicha import cache, compiler
    from kiwicha.boards.memories import memory_of
    from kiwicha.commands import console
    from kiwicha.commands.watch import watch
    from kiwicha.compiler.engine.cost.predictions import layer_predictions
    from kiwicha.compiler.reasons import engine_refusals, on_cpu
    from kiwicha.contract.configs import find_config
    from kiwicha.library import library, pack
    from kiwicha.program.listing import note_lines
    from kiwicha.zoo import models as zoo

    console.require_writable(json, read=[model])
    if dump is not None and json == console.STDOUT:
        raise UsageError("--dump must be given without --json -: both print to standard output")
    hardware = find_config(config).with_memory(memory_of(board))
    if format_ is Format.TFLITE and (double_buffer or dump is not None):
        raise UsageError("--format tflite must be given without --double-buffer and --dump")
    name, path, _ = zoo.resolve(model)

    def once() -> int | None:
        """Compile, and return the cycles that are predicted."""
        start = time.monotonic()
        with console.refusals(json):
            compilation = compiler.compile_stages(
                path,
                hardware,
                optimize=optimize,
                eliminate=eliminate,
                double_buffer=double_buffer,
                detect=detect,
            )
        seconds = time.monotonic() - start
        program = compilation.program
        raw = program.to_bytes()
        found = (
            layer_predictions(compilation.network.graph, program) if hardware.engine_macs else None
        )
        if json is not None:
            facts = {
                "model": name,
                "config": config,
                "memory": hardware.memory.name,
                "optimize": optimize,
                "program_bytes": len(raw),
                "arena_bytes": program.arena_bytes,
                "on_cpu": on_cpu(compilation),
                "predicted": None if found is None else found.to_json(),
                "inputs": {"program": cache.digest([raw])},
                "seconds": round(seconds),
            }
            console.write_json(json, facts)
        if dump is not None:
            typer.echo(compiler.dump(compilation, dump), nl=False)
            if output is None:
                return None
        folder = console.make_folder(output or Path("build") / f"{name}-{config}")
        binary = folder / f"{name}{PROGRAM_SUFFIX}"
        files = library(name, compilation, console.read_file(path, "model file"))
        for file in (binary.name, f"{name}.txt"):
            console.write_file(folder / file, files[file])
        console.write_file(folder / f"{name}.tar.gz", pack(files, name))
        if dump is None and json != console.STDOUT:
            if found is not None:
                typer.echo(found.table())
            for line in note_lines(program, engine_refusals(compilation)):
                typer.echo(line)
            typer.echo(
                f"{binary}: {len(raw):,} bytes, {len(program.steps)} steps, "
                f"arena {program.arena_bytes:,} bytes, for {config}"
            )
        return None if found is None else found.cycles

    settings = Settings(name, path, hardware, optimize, eliminate, detect)
    is_tflite = format_ is Format.TFLITE
    work = functools.partial(write_tflite, settings, output, json) if is_tflite else once
    if is_watched:
        watch(path, work)
    else:
        work()
