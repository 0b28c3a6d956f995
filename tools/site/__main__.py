"""Builds the site, without a network: ``python -m tools.site``.

Pages keep their places in the repository, so that links between them stay as they are. What is no
page of a site, such as a source file that a page links to, is copied as it is.
"""

import argparse
import json
import logging
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config

from tools.site.api_pages import api_pages
from tools.site.chart_page import chart_page
from tools.site.notebooks import notebook_page
from tools.site.try_page import available, try_page

__all__ = ["build_site", "main", "stage"]

_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_FOLDERS = ("docs",)
_TRY = "docs/try.md"
_ROOTS = {"kiwicha": "src/kiwicha"} | {
    f"kiwicha/{name}": name for name in ("boards", "firmware", "gateware", "sim")
}
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")


def stage(project: Path, folder: Path, tried: Sequence[str] = ()) -> None:
    """Write the pages of the site, and what they link to, into a folder.

    Parameters
    ----------
    project : Path
        The repository.
    folder : Path
        Receives them; it is emptied before.
    tried : sequence of str
        Models to try in the browser.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for name in _PAGES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project / name, folder / name)
    ignored = shutil.ignore_patterns("results", "__pycache__")
    for name in _FOLDERS:
        shutil.copytree(project / name, folder / name, ignore=ignored)
    for path in sorted((folder / "docs" / "notebooks").glob("*.ipynb")):
        path.with_suffix(".md").write_text(notebook_page(path), encoding="utf-8")
    written = {**api_pages(), "docs/charts.md": chart_page(project, folder)}
    if tried:
        written[_TRY] = try_page(folder, tried)
    for name, text in written.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for page in sorted(folder.rglob("*.md")):
        _copy_linked(project, folder, page)


def _copy_linked(project: Path, folder: Path, page: Path) -> None:
    """Copy files of the repository that a page links to; links to folders become plain text."""
    text = page.read_text(encoding="utf-8")

    def checked(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / match[1]))
        if (target.exists() and target.is_file()) or not target.is_relative_to(folder):
            return match[0]
        source = project / target.relative_to(folder)
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
            return match[0]
        return "]" if source.is_dir() else match[0]

    changed = _LINK.sub(checked, text)
    if changed != text:
        page.write_text(changed, encoding="utf-8")


def _navigation(*, is_tried: bool) -> list[Mapping[str, Any]]:
    guides = ("bring-your-own-model", "keras", "pytorch", "sound", "gallery", "read-a-report")
    applications = ("tflm", "beside-the-engine", "camera", "first-power-up")
    notebooks = ("own-model", "where-the-cycles-go")
    hardware = ("architecture", "engine", "depthwise", "timing", "energy", "bring-up")
    inside = (*hardware, "performance", "verification")
    return [
        {"Kiwicha": "README.md"},
        *([{"Try it": _TRY}] if is_tried else []),
        {
            "Guides": [
                "docs/index.md",
                *(f"docs/guides/{name}.md" for name in guides),
                *(f"docs/notebooks/{name}.md" for name in notebooks),
                *(f"docs/guides/{name}.md" for name in applications),
                "docs/guides/add-an-instruction.md",
                "docs/guides/add-a-board.md",
                "docs/custom-operators.md",
                "docs/demo-model.md",
            ]
        },
        {
            "Reference": [
                *(f"docs/{name}.md" for name in ("command-line", "python", "c-api", "supported")),
                *sorted(api_pages()),
                "docs/glossary.md",
            ]
        },
        {
            "Results": [
                *(f"docs/{name}.md" for name in ("charts", "results", "vela", "boards")),
            ]
        },
        {
            "How it works": [
                *(f"docs/{name}.md" for name in inside),
                "CONTRIBUTING.md",
                "CHANGELOG.md",
            ]
        },
    ]


def build_site(project: Path, output: Path, tried: Sequence[str] = ()) -> None:
    """Build the site of a repository.

    Parameters
    ----------
    project : Path
        The repository.
    output : Path
        Receives the site; beside it lie the pages that it is made of.
    tried : sequence of str
        Models to try in the browser, which takes a minute the first time.

    Raises
    ------
    mkdocs.exceptions.Abort
        If a page links to what is not there, or a docstring is not understood.
    """
    pages = output.with_name(f"{output.name}-pages")
    stage(project, pages, tried)
    # What is mapped by the installation is not found by reading: one tree of links is.
    sources = output.with_name(f"{output.name}-sources")
    shutil.rmtree(sources, ignore_errors=True)
    (sources / "kiwicha").mkdir(parents=True)
    for path in (project / _ROOTS["kiwicha"]).iterdir():
        (sources / "kiwicha" / path.name).symlink_to(path)
    for name, root in _ROOTS.items():
        if name != "kiwicha":
            (sources / name).symlink_to(project / root)
    options = {"docstring_style": "numpy", "show_root_heading": True, "show_source": False}
    handlers = {"python": {"paths": [str(sources)], "options": options}}
    settings = {
        "site_name": "Kiwicha",
        "docs_dir": str(pages),
        "site_dir": str(output),
        "use_directory_urls": False,
        "strict": True,
        # Nothing is loaded from elsewhere.
        "theme": {"name": "mkdocs", "highlightjs": False, "color_mode": "auto"},
        # Tables within what unfolds.
        "markdown_extensions": ["md_in_html"],
        "plugins": ["search", {"mkdocstrings": {"handlers": handlers}}],
        "nav": _navigation(is_tried=bool(tried)),
        "validation": {"nav": {"omitted_files": "warn"}, "links": {"anchors": "warn"}},
    }
    file = output.with_name(f"{output.name}.yml")
    # JSON is YAML.
    file.write_text(json.dumps(settings), encoding="utf-8")
    build(load_config(str(file)))


def main(words: Sequence[str] | None = None) -> int:
    """Build the site of the current folder's project."""
    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/site"))
    arguments = parser.parse_args(words)
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    build_site(Path.cwd(), arguments.output.resolve(), available())
    sys.stdout.write(f"{arguments.output / 'index.html'}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
