"""``kiwicha doctor``: which tools are here and how to get the others."""

import sys
from typing import Annotated

import typer

__all__ = ["doctor"]


def doctor(
    json: Annotated[str | None, typer.Option(help="Receives the list; - is stdout.")] = None,
) -> None:
    """Look for every tool; exit 1 if a required one is missing."""
    from rich.table import Table

    from kiwicha.commands import console
    from kiwicha.doctor import ALL_EXTRAS, examine

    console.require_writable(json)
    tools = examine()
    if json is not None:
        console.write_json(json, [tool.to_json() for tool in tools])
    if json != console.STDOUT:
        table = Table()
        for name in ("tool", "found", "version", "purpose"):
            table.add_column(name)
        for tool in tools:
            missing = "MISSING" if tool.is_required else "no (optional)"
            found = "yes" if tool.is_found else missing
            table.add_row(tool.name, found, tool.version or "-", tool.purpose)
        out = console.stdout()
        out.print(table)
        for tool in tools:
            if not tool.is_found:
                out.print(f"install {tool.name}: {tool.install}")
        if any(not tool.is_found and tool.is_package for tool in tools):
            out.print(
                f"install what all commands use: {sys.executable} -m pip install '{ALL_EXTRAS}'"
            )
    if any(tool.is_required and not tool.is_found for tool in tools):
        raise typer.Exit(1)
