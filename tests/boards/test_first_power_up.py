"""The guide for a board's first minutes knows what boards and their commands say."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.requirements import REPOSITORY

GUIDE = (REPOSITORY / "docs" / "guides" / "first-power-up.md").read_text(encoding="utf-8")
BOOT = REPOSITORY / "firmware" / "boot"
SAID_BY_LOADER = re.compile(r'(?:return|fault =|fails\(place,|NULL :) "([^"]+)"')
"""Where the loader names what is wrong with flash memory or an SD card."""
KNOWN_BYTES = 12
"""Of a message, up to the first value in it, that tell it from others."""


def texts_of_loader() -> list[str]:
    sources = sorted(BOOT.glob("*.[ch]"))
    return sorted({text for path in sources for text in SAID_BY_LOADER.findall(path.read_text())})


def beginnings(folder: Path) -> Iterator[str]:
    """Give what each `BoardError` of a folder begins with."""
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "BoardError":
                (text,) = node.args
                first = text.values[0] if isinstance(text, ast.JoinedStr) else text
                # What another function puts into words is a status, as of any run.
                if isinstance(first, ast.Constant):
                    yield str(first.value)


BEGINNINGS = sorted({
    text for name in ("link", "selftest") for text in beginnings(REPOSITORY / "boards" / name)
})


@pytest.mark.parametrize("text", texts_of_loader())
def test_what_the_loader_says_of_a_memory_is_there(text: str) -> None:
    assert f"`{text}`" in GUIDE


@pytest.mark.parametrize("text", BEGINNINGS)
def test_errors_of_the_link_are_there(text: str) -> None:
    # Values follow, for which the guide has examples or dots.
    said = re.split(r"[:;(]", text)[0].removesuffix(" ")
    assert len(said) >= KNOWN_BYTES
    assert re.search(rf"`{re.escape(said)}\b", GUIDE)


def test_messages_are_found() -> None:
    assert {"no card answers", "its table has changed"} <= set(texts_of_loader())
    assert "the board's loader must be of version " in BEGINNINGS
