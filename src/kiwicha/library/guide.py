"""What the README of a library says of its model."""

from collections.abc import Iterator, Mapping
from typing import Any

from kiwicha.program.listing import shape_text

__all__ = ["facts"]


def facts(said: Mapping[str, Any]) -> str:
    """Return a table in Markdown.

    Parameters
    ----------
    said : mapping
        What `metadata` returns.
    """
    made = f"compiled by Kiwicha {said['kiwicha']} for configuration {said['config']}"
    return "\n".join([
        f"Model {said['model']}, {made}.",
        "",
        "| | |",
        "|---|---|",
        *(f"| {what} | {value} |" for what, value in _rows(said)),
    ])


def _rows(said: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    memory = said["memory"]
    yield "Program, which is only read", f"{memory['program']:,} bytes"
    yield "arena: inputs, outputs and what is between them", f"{memory['arena']:,} bytes"
    yield "stack that a call takes, on RV32 with `-O1` or more", f"{memory['stack']:,} bytes"
    yield "heap", "0 bytes"
    yield "multiply-accumulates of an inference", f"{said['macs']:,}"
    if said["predicted_cycles"] is not None:
        yield "its cycles, predicted", f"{said['predicted_cycles']:,}"
    yield "its cycles, at most", f"{said['worst_cycles']:,}"
    for what in ("input", "output"):
        for tensor in said[f"{what}s"]:
            yield f"{what} `{tensor['name']}`", f"{tensor['dtype']} {shape_text(tensor['shape'])}"
