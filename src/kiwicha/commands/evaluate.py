"""``kiwicha evaluate``: how often a model is right."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands.options import ModelName
from kiwicha.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from kiwicha.evaluation.scores import Scores
    from kiwicha.program.image import Program

__all__ = ["evaluate"]

_MOST_COLUMNS = 16
"""Classes of a confusion matrix that is shown whole."""


def evaluate(
    model: ModelName,
    data: Annotated[
        Path,
        typer.Argument(
            help="A folder with a folder of pictures for each class, or an .npz file with arrays x "
            "and y."
        ),
    ],
    labels: Annotated[
        Path | None, typer.Option(help="Names of the output's elements, one per line.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Take so many examples of each folder, or of arrays, at most."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Examples at a time; by default one for each core.")
    ] = None,
    json: Annotated[str | None, typer.Option(help="Receives the scores; - is stdout.")] = None,
) -> None:
    """Compute a model's accuracy on labelled data, bit for bit as every target does."""
    import math

    from kiwicha import tools
    from kiwicha.commands import console
    from kiwicha.compiler import compile_model
    from kiwicha.evaluation.answers import evaluated
    from kiwicha.evaluation.examples import read_examples
    from kiwicha.evaluation.scores import TOP
    from kiwicha.firmware.native_library import NATIVE_CONFIG
    from kiwicha.zoo import models as zoo

    console.require_writable(json, read=[model, data, labels])
    name, path, known = zoo.resolve(model)
    words = known if labels is None else zoo.read_labels(labels)
    with console.refusals(json):
        program = compile_model(path, NATIVE_CONFIG)
    _check(program)
    tensor, output = program.inputs[0], program.outputs[0]
    count = math.prod(output.shape)
    if labels is not None and len(words) != count:
        raise UsageError(f"labels must have {count} lines, not {len(words)} ({labels})")
    names = words if len(words) == count else [str(number) for number in range(count)]
    examples = read_examples(data, tensor, words, count, limit)
    threads = threads or tools.cores()
    with console.display() as show:
        report = show.count(f"evaluating {name} on {len(examples):,} examples", len(examples))
        start = time.monotonic()
        scores = evaluated(program, examples, threads, report)
        seconds = time.monotonic() - start
    if json is not None:
        facts = {
            "model": name,
            "data": str(data),
            "examples": scores.examples,
            "correct": scores.correct,
            "accuracy": scores.accuracy,
            "in_top": {"of": TOP, "correct": scores.in_top},
            "labels": list(names),
            "confusion": scores.confusion.tolist(),
        }
        console.write_json(json, facts)
    if json == console.STDOUT:
        return
    out = console.stdout()
    out.print(_class_table(scores, names))
    if count <= _MOST_COLUMNS:
        out.print(_confusion_table(scores, names))
    top = f", {100 * scores.in_top / scores.examples:.2f} % in the first {TOP}"
    out.print(
        f"accuracy of {name}: {100 * scores.accuracy:.2f} % ({scores.correct:,} of "
        f"{scores.examples:,}{top if count > TOP else ''}), "
        f"{1e3 * seconds / scores.examples:.1f} ms each"
    )


def _check(program: "Program") -> None:
    if len(program.inputs) != 1 or program.states:
        raise UsageError(
            "model must have one input and keep nothing between inferences to be evaluated"
        )
    shape = program.outputs[0].shape
    if len([size for size in shape if size > 1]) != 1:
        size = "x".join(map(str, shape)) or "scalar"
        raise UsageError(f"model must have an output for each of its classes, not {size}")


def _class_table(scores: "Scores", names: "Sequence[str]") -> "Table":
    from rich.table import Table

    table = Table()
    for title in ("class", "examples", "right", "accuracy", "most often taken for"):
        is_text = title in {"class", "most often taken for"}
        table.add_column(title, justify="left" if is_text else "right")
    for number, row in enumerate(scores.confusion):
        total = int(row.sum())
        if not total:
            continue
        worst = scores.confused(number)
        table.add_row(
            names[number],
            f"{total:,}",
            f"{row[number]:,}",
            f"{100 * row[number] / total:.1f} %",
            "-" if worst is None else f"{names[worst[0]]} ({worst[1]:,})",
        )
    return table


def _confusion_table(scores: "Scores", names: "Sequence[str]") -> "Table":
    from rich.table import Table

    table = Table(title="classes (rows) and answers (columns)")
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")
    for name, row in zip(names, scores.confusion, strict=True):
        table.add_row(name, *(f"{value:,}" if value else "-" for value in row))
    return table
