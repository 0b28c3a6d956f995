"""What a model is called in C, and in names of files."""

import re

__all__ = ["file_name", "named_text", "symbol"]

_SAMPLE = "sample"
"""What the model is called in the files that are written for each."""


def symbol(name: str) -> str:
    """Return what C identifiers of a model begin with: its letters, digits and underscores."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() else found


def file_name(name: str) -> str:
    """Return what files of a model begin with: nothing that make or a shell would divide."""
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)


def named_text(text: str, name: str) -> str:
    """Return a text that was written for a model called `_SAMPLE`, with this model's names."""
    text = text.replace(f"model/{_SAMPLE}.h", f"model/{file_name(name)}.h")
    for what in ("program", "tflite"):
        text = text.replace(f"{_SAMPLE}_{what}", f"{symbol(name)}_{what}")
    return text.replace(f"{_SAMPLE.upper()}_", f"{symbol(name).upper()}_")
