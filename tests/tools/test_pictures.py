"""The pictures of pages."""

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.support.requirements import REPOSITORY, browser, module
from tools import pictures


def test_every_picture_is_there_and_shown() -> None:
    pages = "".join(path.read_text("utf-8") for path in (REPOSITORY / "docs").rglob("*.md"))
    for name in pictures.PICTURES:
        assert (pictures.FOLDER / name).is_file()
        assert f"pictures/{name})" in pages


def test_unknown_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        pictures.main(["other.png"])
    assert "picture must be one of report.png, " in capsys.readouterr().err


def test_only_what_is_named_is_drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: dict[str, Any] = {"a.png": lambda _: b"a", "b.png": lambda _: b"b"}
    monkeypatch.setattr(pictures, "PICTURES", made)
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    assert pictures.main(["b.png"]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["b.png"]
    assert pictures.main([]) == 0
    assert (tmp_path / "a.png").read_bytes() == b"a"


@pytest.mark.browser
def test_a_page_is_as_large_as_its_window_or_whole(tmp_path: Path) -> None:
    module("playwright.sync_api", "playwright")
    browser()
    page = tmp_path / "page.html"
    page.write_text("<!DOCTYPE html><body data-drawn=a><p style='height: 900px'>text</p>")
    sizes = [
        Image.open(io.BytesIO(pictures.shot(page, how))).size
        for how in (pictures.Shot(390, 200), pictures.Shot(390, 200, "p", is_whole=True))
    ]
    assert sizes[0] == (390, 200)
    assert sizes[1][0] == 390
    assert sizes[1][1] > 900
