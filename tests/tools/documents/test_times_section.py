"""The section on times."""

from collections.abc import Iterable

import pytest

from kiwicha.errors import UsageError
from tools.documents.times_section import times_section

OUTCOME = {
    "times": {
        "demo": {
            "command": "kiwicha demo",
            "seconds": 7.0,
            "processor_seconds": 6.5,
            "bar": 8,
            "load": 0.1,
        },
        "page": {
            "command": "kiwicha web demo",
            "seconds": 2.5,
            "bytes": 5_250_000,
            "bar": 5,
            "load": 3,
        },
        "image": {"command": "invoke()", "seconds": 0.0051, "bar": 0.012, "load": 0},
    },
    "cores": 2,
}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_it_shows_times_beside_their_bars() -> None:
    text = times_section({"t/t.json": OUTCOME}, fresh)
    assert "| demo | `kiwicha demo` | 7.0 | 6.5 | 8 |  | 0.1 |" in text
    assert "| page | `kiwicha web demo` | 2.5 |  | 5 | 5.2 MB | 3 |" in text
    assert "| image | `invoke()` | 0.0051 |  | 0.012 |  | 0 |" in text
    assert "on 2 cores." in text
    assert "python -m tools.times --json t/t.json" in text


def test_there_is_none_without_a_file() -> None:
    assert times_section({}, fresh) == ""


def test_other_files_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^results must be those of python -m tools.times"):
        times_section({"t/t.json": {}}, fresh)
