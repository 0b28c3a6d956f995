"""All files of results."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from kiwicha.errors import UsageError
from tools.results.kinds import KINDS
from tools.results.result import FOLDER, Result

__all__ = ["catalogue", "chosen"]


def catalogue(project: Path) -> list[Result]:
    """Return the files of results of a project, by kind and name.

    Parameters
    ----------
    project : Path
        Its top folder.
    """
    return [
        Result(
            kind,
            path.relative_to(project).as_posix(),
            json.loads(path.read_text(encoding="utf-8")),
        )
        for kind in KINDS
        for path in sorted((project / FOLDER / kind.folder).glob("*.json"))
    ]


def chosen(results: Sequence[Result], names: Iterable[str]) -> list[Result]:
    """Return the results of some names, all of a folder's for the name of a folder; all for none.

    Raises
    ------
    UsageError
        If there is none of a name.
    """
    wanted = list(names)
    for name in wanted:
        if not any(name in {result.name, result.kind.folder} for result in results):
            known = ", ".join(result.name for result in results)
            raise UsageError(f"result must be one of {known}, or a folder of them, not {name!r}")
    if not wanted:
        return list(results)
    return [one for one in results if {one.name, one.kind.folder} & set(wanted)]
