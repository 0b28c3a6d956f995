"""The build cache: hits, misses, failures, and builders at the same time."""

import multiprocessing
from pathlib import Path

import pytest

from kiwicha import cache
from kiwicha.errors import UsageError
from tests.support.processes.cache_builder import build_slowly


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("KIWICHA_CACHE", str(folder))
    return folder


def entries(folder: Path, kind: str) -> list[str]:
    return sorted(path.name for path in (folder / kind).iterdir())


def test_the_folder_is_the_users_unless_named(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cache.cache_dir() == own_cache
    monkeypatch.delenv("KIWICHA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.cache_dir().name == "kiwicha"
    assert tmp_path in cache.cache_dir().parents


def test_an_entry_is_built_once(own_cache: Path) -> None:
    calls: list[str] = []

    def builder(folder: Path) -> None:
        (folder / "out").write_text("built", encoding="utf-8")

    for _ in range(3):
        entry = cache.build("kind", "key", builder, on_build=lambda: calls.append("build"))
        assert (entry / "out").read_text(encoding="utf-8") == "built"
    assert calls == ["build"]
    assert entries(own_cache, "kind") == ["key"]


def test_kinds_and_keys_are_kept_apart() -> None:
    def builder(text: str) -> Path:
        return cache.build(text[0], text[1], lambda folder: (folder / text).touch())

    found = {text: [path.name for path in builder(text).iterdir()] for text in ("ak", "al", "bk")}
    assert found == {"ak": ["ak"], "al": ["al"], "bk": ["bk"]}


def test_a_failed_build_leaves_nothing(own_cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise RuntimeError("builder failed")

    with pytest.raises(RuntimeError, match=r"^builder failed$"):
        cache.build("kind", "key", fail)
    assert entries(own_cache, "kind") == []
    entry = cache.build("kind", "key", lambda folder: (folder / "whole").touch())
    assert [path.name for path in entry.iterdir()] == ["whole"]


def test_what_a_killed_builder_left_is_not_taken_over(own_cache: Path) -> None:
    left = own_cache / "kind" / "key.partial"
    left.mkdir(parents=True)
    (left / "half").touch()
    entry = cache.build("kind", "key", lambda folder: (folder / "whole").touch())
    assert [path.name for path in entry.iterdir()] == ["whole"]
    assert entries(own_cache, "kind") == ["key"]


def test_builders_at_the_same_time_build_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=build_slowly, args=(log,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0, 0]
    assert log.read_text(encoding="utf-8") == "built\n"


def test_a_digest_depends_on_every_part(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one", encoding="utf-8")
    other = tmp_path / "b.txt"
    other.write_text("one", encoding="utf-8")
    parts: list[list[str | bytes | Path]] = [
        [],
        [""],
        ["ab", "c"],
        ["a", "bc"],
        ["abc"],
        ["c", "ab"],
        [file],
        [other],
        [file, "x"],
    ]
    digests = [cache.digest(item) for item in parts]
    assert len(set(digests)) == len(parts)
    assert digests == [cache.digest(item) for item in parts]
    file.write_text("two", encoding="utf-8")
    assert cache.digest([file]) not in digests


def test_package_versions_are_those_installed() -> None:
    (line,) = cache.package_versions(["litex"])
    assert line == "litex 2024.12"


def test_a_folder_that_cannot_be_made_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("KIWICHA_CACHE", str(file / "below"))
    with pytest.raises(UsageError, match=r"^cache folder must be writable: .*KIWICHA_CACHE"):
        cache.build("kind", "key", lambda folder: None)
