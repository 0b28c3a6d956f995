"""The file of a study."""

import errno
import json
from pathlib import Path

import pytest

from kiwicha.errors import UsageError
from kiwicha.explore.journal import held

LINES = [json.dumps({"op_code": code, "worker_id": "a"}).replace(" ", "") for code in (0, 4, 9)]
OTHER = "name another file with --study"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.journal"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_a_whole_study_is_left_as_it_is(study: Path) -> None:
    before = study.read_bytes()
    said: list[str] = []
    with held(study, said.append):
        pass
    assert (study.read_bytes(), said) == (before, [])


def test_a_new_study_is_an_empty_file(tmp_path: Path) -> None:
    with held(tmp_path / "new.journal"):
        assert (tmp_path / "new.journal").read_bytes() == b""


@pytest.mark.parametrize("end", [b"\0\0\0", b"{", LINES[0].encode()])
def test_an_incomplete_last_line_is_cut_off(study: Path, end: bytes) -> None:
    before = study.read_bytes()
    study.write_bytes(before + end)
    said: list[str] = []
    with held(study, said.append):
        assert study.read_bytes() == before
    assert said == [f"cut off the incomplete last line of {study}; its point is tried again"]


def test_a_study_whose_only_line_is_incomplete_begins_anew(study: Path) -> None:
    study.write_text(LINES[0])
    with held(study):
        assert study.read_bytes() == b""


@pytest.mark.parametrize(
    "raw",
    [b"trial,config\n0,64\n", b"a note\n", b"[1]\n", b'{"op": 1}\n', b"\xff\xfe\n\x00", b"\n"],
)
def test_another_file_is_refused_and_kept(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(raw)
    with pytest.raises(UsageError) as raised, held(path):
        pass
    assert str(raised.value) == (
        f"study must be one that kiwicha explore wrote, but line 1 of {path} is not; {OTHER}"
    )
    assert path.read_bytes() == raw


def test_a_text_without_lines_is_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"TFL3")
    with pytest.raises(UsageError) as raised, held(path):
        pass
    assert str(raised.value) == f"study must be one that kiwicha explore wrote, not {path}; {OTHER}"
    assert path.read_bytes() == b"TFL3"


def test_damage_in_the_middle_is_named(study: Path) -> None:
    study.write_text(f"{LINES[0]}\n{LINES[1][:9]}{LINES[2]}\n")
    with pytest.raises(UsageError, match=r"line 2 of .*study.journal is not"), held(study):
        pass


def test_what_is_no_regular_file_is_refused() -> None:
    with (
        pytest.raises(UsageError, match="study must be a regular file, not /dev/null"),
        held(Path("/dev/null")),
    ):
        pass


def test_one_search_holds_a_study_at_a_time(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study.parent)
    with held(study):
        with pytest.raises(UsageError) as raised, held(Path(study.name)):
            pass
        with held(study.with_name("other")):
            pass
    assert str(raised.value) == (
        f"study must not be in use, but another search uses it ({study.name}); "
        f"wait for its end, or {OTHER}"
    )
    with held(study):
        pass


def test_a_full_disk_is_told_as_one(study: Path) -> None:
    with pytest.raises(UsageError) as raised, held(study):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert str(raised.value) == (
        f"study must have room on its disk ({study}: No space left on device); "
        "run the same command again when there is: finished points are kept"
    )
    with pytest.raises(FileNotFoundError), held(study):
        raise FileNotFoundError(errno.ENOENT, "no such file")
