"""Names and search of public models."""

import dataclasses
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from kiwicha.errors import UsageError
from kiwicha.zoo import models as zoo
from tests.support.models.zoo_model import CONTENT, zoo_model

pytestmark = pytest.mark.usefixtures("empty_machine")

A_NAME = "a file, a name of `kiwicha gallery` or one listed by `kiwicha models list`"


@pytest.fixture
def model() -> zoo.ZooModel:
    return zoo_model()


def test_every_entry_is_complete_and_every_name_is_unique() -> None:
    names = [name for entry in zoo.entries() for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))
    assert zoo.DEMO not in names
    for entry in zoo.entries():
        assert len(entry.sha256) == 64
        assert len(entry.commit) == 40
        assert entry.licence in {"Apache-2.0", "MIT"}
        assert entry.address.endswith(f"/{entry.commit}/{entry.path}")
        assert entry.size_bytes > 0


@pytest.mark.parametrize("entry", zoo.entries(), ids=lambda entry: entry.name)
def test_listed_size_and_hash_are_those_of_the_file(entry: zoo.ZooModel, zoo_model: Any) -> None:
    path = zoo_model(Path(entry.file).stem)
    assert path.stat().st_size == entry.size_bytes
    assert zoo.sha256_of(path) == entry.sha256


@pytest.mark.parametrize(
    ("alias", "name"),
    [("mlperf_vww_96_int8", "vww"), ("kws", "kws"), ("mobilenetv2_160_035", "mnv2")],
)
def test_a_model_has_several_names(alias: str, name: str) -> None:
    assert zoo.find(alias).name == name


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        zoo.find("resnet9")
    assert str(caught.value) == (
        "model must be a name listed by `kiwicha models list`, not 'resnet9'; nearest is 'resnet8'"
    )


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", f"{A_NAME}, not ''"),
        ("q", f"{A_NAME}, not 'q'"),
        ("q.tflite", "a readable file, not missing (q.tflite)"),
        (os.devnull, f"a readable file, not a device ({os.devnull})"),
        (os.sep, f"a readable file, not a folder ({os.sep})"),
    ],
)
def test_what_is_no_model_is_named(text: str, error: str) -> None:
    with pytest.raises(UsageError) as caught:
        zoo.resolve(text)
    assert str(caught.value) == f"model must be {error}"


def test_folders_of_the_environment_come_first(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: zoo.ZooModel
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second, zoo.fetched_folder()):
        folder.mkdir(parents=True)
        (folder / model.file).write_bytes(CONTENT)
    assert zoo.locate(model).path == zoo.fetched_folder() / model.file
    monkeypatch.setenv("KIWICHA_MODELS", f"{first}:{second}")
    assert zoo.locate(model).path == first / model.file
    (first / model.file).write_bytes(b"other")
    assert zoo.locate(model) == zoo.Location(second / model.file, (first / model.file,))


def test_the_name_in_the_public_repository_counts_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: zoo.ZooModel
) -> None:
    monkeypatch.setenv("KIWICHA_MODELS", str(tmp_path))
    path = tmp_path / "kws_ref_model.tflite"
    path.write_bytes(CONTENT)
    assert zoo.locate(model).path == path


def test_resolving_a_model_that_is_not_here_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KIWICHA_MODELS", str(tmp_path))
    other = tmp_path / zoo.find("kws").file
    other.write_bytes(CONTENT)
    with pytest.raises(UsageError) as caught:
        zoo.resolve("kws")
    assert str(caught.value) == (
        "model kws must be on this machine first: `kiwicha models fetch kws`, or name its folder "
        f"in KIWICHA_MODELS; {other} has another sha256"
    )


def test_a_path_resolves_to_its_stem(tmp_path: Path) -> None:
    path = tmp_path / "mine.tflite"
    path.write_bytes(b"x")
    assert zoo.resolve(str(path)) == ("mine", path, ())


@pytest.mark.parametrize(("name", "kind"), [("no.tflite", "missing"), ("folder", "a folder")])
def test_a_path_that_is_no_file_is_refused(tmp_path: Path, name: str, kind: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError) as caught:
        zoo.resolve(str(tmp_path / name))
    assert str(caught.value) == f"model must be a readable file, not {kind} ({tmp_path / name})"


def test_a_name_comes_before_a_file_of_the_same_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kws").write_bytes(b"x")
    with pytest.raises(UsageError, match="model kws must be on this machine first"):
        zoo.resolve("kws")
    assert zoo.resolve("./kws")[1] == Path("kws")


def test_labels_come_from_the_listed_file_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = b"ant\nbee\n"
    model = dataclasses.replace(
        zoo.find("kws"),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        labels=(),
        labels_file="names.txt",
        labels_sha256=hashlib.sha256(text).hexdigest(),
    )
    monkeypatch.setattr(zoo, "find", lambda *_: model)
    monkeypatch.setenv(zoo.FOLDERS_VARIABLE, str(tmp_path))
    (tmp_path / model.file).write_bytes(CONTENT)
    assert zoo.resolve("kws")[2] == ()
    (tmp_path / "names.txt").write_bytes(b"other")
    assert zoo.resolve("kws")[2] == ()
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "names.txt").write_bytes(text)
    assert zoo.resolve("kws")[2] == ("ant", "bee")


def test_the_bundled_model_and_its_pictures_are_there() -> None:
    name, path, labels = zoo.resolve("demo")
    assert (name, len(labels)) == ("demo", 2)
    assert path.is_file()
    pictures = zoo.demo_pictures()
    assert all(picture.path.is_file() and picture.label in labels for picture in pictures)
