"""Files of results: their names, and what changed since they were measured."""

import pytest

from tools.results.result import Fingerprint, Kind, Result, changed, name_of

MEASURED = {"kws 64": {"hardware": "1", "program": "2"}, "ad 64": {"hardware": "1"}}


def result(recorded: Fingerprint) -> Result:
    kind = Kind("bench", lambda *_: "", lambda _: recorded, lambda _: {}, lambda _: None)
    return Result(kind, "docs/results/bench/a.json", [])


def test_names_are_those_of_files_in_their_folder() -> None:
    assert name_of("docs/results/bench/64-128.json") == "bench/64-128"
    assert result({}).name == "bench/a"


@pytest.mark.parametrize(
    ("now", "what"),
    [
        (MEASURED, []),
        ({**MEASURED, "ad 64": {"hardware": "9"}}, ["hardware"]),
        ({**MEASURED, "kws 64": {"hardware": "9", "program": "9"}}, ["hardware", "program"]),
        ({**MEASURED, "kws 64": {"hardware": "1"}}, ["program"]),
        ({**MEASURED, "kws 64": {**MEASURED["kws 64"], "firmware": "3"}}, ["firmware"]),
        ({"kws 64": MEASURED["kws 64"]}, ["hardware"]),
    ],
)
def test_what_changed_is_named(now: Fingerprint, what: list[str]) -> None:
    assert changed(MEASURED, now) == what


def test_the_digest_is_of_everything_that_was_measured() -> None:
    first = result(MEASURED).digest
    assert len(first) == 8
    assert result(dict(reversed(MEASURED.items()))).digest == first
    others = [
        {**MEASURED, "ad 64": {"hardware": "9"}},
        {"kws 64": MEASURED["kws 64"], "ad 128": {"hardware": "1"}},
        {**MEASURED, "ad 64": {"firmware": "1"}},
    ]
    assert len({first, *(result(other).digest for other in others)}) == 4
