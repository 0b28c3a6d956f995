"""All files of results, and those that names choose."""

import json
from pathlib import Path

import pytest

from kiwicha.errors import UsageError
from tests.support.requirements import REPOSITORY
from tools.results.catalogue import catalogue, chosen
from tools.results.kinds import KINDS
from tools.results.result import FOLDER

_VERIFICATION = f"{FOLDER}/verification/"
"""What the page on verification reads."""


def test_every_committed_file_is_of_a_kind() -> None:
    found = {result.path for result in catalogue(REPOSITORY)}
    there = {path.relative_to(REPOSITORY).as_posix() for path in (REPOSITORY / FOLDER).rglob("*.*")}
    others = {path for path in there - found if not path.startswith(_VERIFICATION)}
    assert others == {f"{FOLDER}/present.json"}
    assert {result.kind for result in catalogue(REPOSITORY)} == set(KINDS)


def test_names_and_folders_choose(tmp_path: Path) -> None:
    for name in ("area/a", "area/b", "weights/c"):
        path = tmp_path / FOLDER / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"of": name}))
    results = catalogue(tmp_path)
    assert [one.contents for one in results] == [{"of": one.name} for one in results]

    def names(*words: str) -> list[str]:
        return [one.name for one in chosen(results, words)]

    assert names() == ["area/a", "area/b", "weights/c"]
    assert names("area") == ["area/a", "area/b"]
    assert names("weights/c", "area/b") == ["area/b", "weights/c"]
    with pytest.raises(
        UsageError, match=r"^result must be one of area/a, area/b, weights/c, or a "
    ):
        chosen(results, ["area/c"])
