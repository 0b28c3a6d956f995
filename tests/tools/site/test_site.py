"""The site is built from the repository, whole and without a network."""

import importlib
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.support import requirements
from tests.support.requirements import REPOSITORY
from tools.site.api_pages import api_pages
from tools.site.chart_page import chart_page
from tools.site.try_page import available

TRIED = "<!DOCTYPE html><title>Tried</title>"


class Loaded(HTMLParser):
    """What a page loads, and what it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an address."""
        for name, value in attrs:
            if value and name == ("href" if tag in {"a", "link"} else "src"):
                (self.linked if tag == "a" else self.loaded).append(value)


@pytest.fixture(scope="module")
def site() -> Any:
    """Give what builds the site."""
    requirements.module("mkdocs", "mkdocs>=1.6")
    requirements.module("mkdocstrings", "mkdocstrings-python>=2.0")
    return importlib.import_module("tools.site.__main__")


@pytest.fixture(scope="module")
def built(site: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    with pytest.MonkeyPatch.context() as monkeypatch:
        # The page itself has tests of its own, and takes a simulator.
        monkeypatch.setattr("tools.site.try_page.build_web_page", lambda *_, **__: TRIED)
        site.build_site(REPOSITORY, folder, ["demo"])
    return folder


@pytest.mark.slow
def test_every_page_is_there(built: Path) -> None:
    names = {path.relative_to(built).as_posix() for path in built.rglob("*.html")}
    pages = [path.relative_to(REPOSITORY) for path in (REPOSITORY / "docs").rglob("*.md")]
    # A folder's README is its index.
    wanted = {page.with_suffix(".html").as_posix() for page in pages}
    wanted |= {name.replace(".md", ".html") for name in api_pages()}
    wanted |= {"index.html", "docs/charts.html", "docs/notebooks/own-model.html"}
    assert {name.replace("README.html", "index.html") for name in wanted} <= names
    assert (
        'id="kiwicha.interpreter.interpreter.Interpreter.invoke"'
        in (built / "docs/api/interpreter.html").read_text()
    )


@pytest.mark.slow
def test_models_can_be_tried(built: Path) -> None:
    assert "docs/try.html" in Loaded((built / "index.html").read_text()).linked
    assert "try/demo.html" in Loaded((built / "docs/try.html").read_text()).linked
    assert (built / "docs/try/demo.html").read_text() == TRIED


def test_the_bundled_model_can_always_be_tried(empty_machine: None) -> None:
    assert available() == ["demo"]


@pytest.mark.slow
def test_pages_load_what_is_beside_them_and_link_to_what_is_there(built: Path) -> None:
    missing = []
    for path in built.rglob("*.html"):
        # Paths of the first begin at the top of a server; the others load nothing.
        if path.name == "404.html" or path.parent.name == "try":
            continue
        page = Loaded(path.read_text(encoding="utf-8"))
        assert page.loaded
        for address in [*page.loaded, *page.linked]:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                assert address not in page.loaded, f"{path} loads {address}"
            elif parts.path and not (path.parent / unquote(parts.path)).exists():
                missing.append(f"{path.relative_to(built)}: {address}")
    assert missing == []


def test_the_chart_has_every_run(tmp_path: Path) -> None:
    text = chart_page(REPOSITORY, tmp_path)
    (name,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    picture = (tmp_path / "docs" / name).read_text()
    assert "person_detect" in picture
    widths = re.findall(r'aria-roledescription="bar" d="M0,\d+h([\d.]+)v', picture)
    assert len(widths) >= 6 * 7
    assert min(map(float, widths)) > 10


@pytest.mark.slow
def test_a_broken_link_fails_the_build(
    site: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = site.stage

    def broken(project: Path, folder: Path, tried: Sequence[str]) -> None:
        stage(project, folder, tried)
        (folder / "docs" / "glossary.md").write_text("# Glossary\n\n[gone](nowhere.md)\n")

    monkeypatch.setattr(site, "stage", broken)
    # Without the reference it takes less time.
    monkeypatch.setattr(site, "api_pages", dict)
    with pytest.raises(importlib.import_module("mkdocs.exceptions").Abort):
        site.build_site(REPOSITORY, tmp_path / "site")
