"""Fetching of public models. Nothing here touches the network."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from kiwicha.errors import ModelError, UsageError
from kiwicha.zoo import models as zoo
from kiwicha.zoo.fetch import fetch
from tests.support.models.zoo_model import CONTENT, zoo_model

pytestmark = pytest.mark.usefixtures("empty_machine")


@pytest.fixture
def model() -> zoo.ZooModel:
    return zoo_model()


class Response:
    """What requests.get returns."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.headers = {"content-length": str(len(content))}

    def raise_for_status(self) -> None:
        """Do nothing: all is well."""

    def close(self) -> None:
        """Do nothing: there is no line to close."""

    def iter_content(self, chunk_size: int) -> Iterator[bytes]:
        """Yield the content in pieces."""
        for start in range(0, len(self.content), chunk_size):
            yield self.content[start : start + chunk_size]


def serve(monkeypatch: pytest.MonkeyPatch, answer: bytes | Exception) -> list[str]:
    asked: list[str] = []

    def get(address: str, **options: Any) -> Response:
        asked.append(address)
        assert options["timeout"] > 0
        if isinstance(answer, Exception):
            raise answer
        return Response(answer)

    monkeypatch.setattr("requests.get", get)
    return asked


def test_fetch_keeps_a_checked_file(monkeypatch: pytest.MonkeyPatch, model: zoo.ZooModel) -> None:
    asked = serve(monkeypatch, CONTENT)
    received: list[int] = []
    path = fetch(model, received.append)
    assert asked == [model.address]
    assert received[-1] == len(CONTENT)
    assert path.read_bytes() == CONTENT
    assert zoo.locate(model).path == path


def files() -> Iterator[Path]:
    return zoo.fetched_folder().iterdir()


@pytest.mark.parametrize("content", [CONTENT[:-1], CONTENT + b"x", b""])
def test_fetch_keeps_nothing_of_another_file(
    monkeypatch: pytest.MonkeyPatch, model: zoo.ZooModel, content: bytes
) -> None:
    serve(monkeypatch, content)
    with pytest.raises(ModelError) as caught:
        fetch(model)
    found = hashlib.sha256(content).hexdigest()
    assert str(caught.value) == (
        f"sha256 of kws must be {model.sha256}, not {found} ({model.address})"
    )
    assert not list(files())


def test_fetch_without_a_network_names_the_way_around(
    monkeypatch: pytest.MonkeyPatch, model: zoo.ZooModel
) -> None:
    serve(monkeypatch, requests.ConnectionError("no route"))
    with pytest.raises(UsageError) as caught:
        fetch(model)
    assert str(caught.value) == (
        f"address of kws must be reachable: no route ({model.address}); without a network, put "
        "mlperf_kws_ref_model.tflite into a folder named in KIWICHA_MODELS"
    )
    assert not list(files())


def test_fetch_into_a_folder_that_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, model: zoo.ZooModel
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "file"))
    with pytest.raises(UsageError, match=r"^folder of fetched models must be writable: "):
        fetch(model)


def test_a_file_without_end_is_refused(
    monkeypatch: pytest.MonkeyPatch, model: zoo.ZooModel
) -> None:
    serve(monkeypatch, bytes(10_000))
    with pytest.raises(ModelError, match=r"^file of kws must have 5,000 bytes, not more \("):
        fetch(model)
    assert not list(files())


def test_what_is_there_is_not_fetched_again(
    monkeypatch: pytest.MonkeyPatch, model: zoo.ZooModel
) -> None:
    asked = serve(monkeypatch, CONTENT)
    assert fetch(model) == fetch(model)
    assert len(asked) == 1
