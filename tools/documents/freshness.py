"""Whether results are of the present hardware, in the words of the pages."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from tools.results.result import Fingerprint, Result, changed, name_of

__all__ = ["Freshness", "freshness"]

Freshness = Callable[[Iterable[str]], str]
"""Takes paths of files of results; returns a line for below their table."""


def freshness(results: Sequence[Result], present: Mapping[str, Fingerprint]) -> Freshness:
    """Return what says of files whether they were measured on what the tree has now.

    Parameters
    ----------
    results : sequence of Result
        All of them.
    present : mapping
        What each would record now, by name; see `tools.results.present`.
    """
    by_name = {result.name: result for result in results}

    def line(paths: Iterable[str]) -> str:
        states: dict[str, list[str]] = {}
        for name in map(name_of, paths):
            result = by_name[name]
            states.setdefault(_state(result, present.get(name)), []).append(
                f"`{name}` ({result.digest})"
            )
        return " ".join(
            f"{state}: {', '.join(names)}.{_remedy(state, names)}"
            for state, names in sorted(states.items())
        )

    return line


_FRESH = "Measured on this hardware"


def _state(result: Result, now: Fingerprint | None) -> str:
    if now is None:
        return "Not compared with this hardware"
    what = changed(result.recorded, now)
    return f"Measured before a change of {', '.join(what)}" if what else _FRESH


def _remedy(state: str, names: Sequence[str]) -> str:
    if state == _FRESH:
        return ""
    words = " ".join(name.split("`")[1] for name in names)
    return f" `python -m tools.results --renew {words}` measures again."
