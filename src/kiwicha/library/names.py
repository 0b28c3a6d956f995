"""What a model is called in C, and in names of files."""

import re

__all__ = ["file_name", "symbol"]


def symbol(name: str) -> str:
    """Return what C identifiers of a model begin with: its letters, digits and underscores."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII)
    return f"_{found}" if found[:1].isdigit() else found


def file_name(name: str) -> str:
    """Return what files of a model begin with: nothing that make or a shell would divide."""
    return re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)
