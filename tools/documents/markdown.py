"""Tables of the generated documents."""

from collections.abc import Iterable, Iterator

__all__ = ["folded", "measured_with", "table"]


def folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """Give lines that a reader has to unfold, with an empty line behind them.

    Parameters
    ----------
    title : str
        What is always seen: plain text.
    lines : iterable of str
        Markdown.
    """
    yield from (f"<details><summary>{title}</summary>", "")
    yield from lines
    yield from ("", "</details>", "")


def measured_with(*commands: str) -> Iterator[str]:
    """Give the lines that end a section: what measured it."""
    yield from ("", "measured with", "", "```")
    yield from commands
    yield from ("```", "")


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a Markdown table.

    Parameters
    ----------
    columns : iterable of str
        Titles; a column whose title ends with a colon holds numbers and is set flush right.
    rows : iterable of iterable of str
        A text for each column.
    """
    titles = list(columns)
    rule = "|".join("---:" if title.endswith(":") else "---" for title in titles)
    head = _row(title.removesuffix(":") for title in titles)
    return [head, f"|{rule}|", *map(_row, rows)]


def _row(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"
