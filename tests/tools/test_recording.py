"""What a command prints as a picture."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.requirements import REPOSITORY
from tools import recording

SCRIPT = (
    "import sys; print('\\033[1mbold\\033[0m & <plain>', sys.stdout.isatty());"
    "print('progress', file=sys.stderr)"
)


def text_of(picture: str) -> str:
    """Give what can be read in a picture."""
    return "".join(ElementTree.fromstring(picture).itertext()).replace("\N{NO-BREAK SPACE}", " ")


def test_a_picture_shows_command_and_text(tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    assert recording.main(["-o", str(path), sys.executable, "-c", SCRIPT]) == 0
    shown = text_of(path.read_text())
    assert "$ " in shown
    assert "bold & <plain> True" in shown
    assert "progress" not in shown.rpartition("bold & <plain> True")[2]
    assert "http" not in path.read_text().replace("http://www.w3.org/2000/svg", "")


def test_equal_texts_give_equal_pictures() -> None:
    assert recording.svg(["a"], "b") == recording.svg(["a"], "b") != recording.svg(["a"], "c")


def test_a_command_that_fails_gives_no_picture(tmp_path: Path) -> None:
    words = ["-o", str(tmp_path / "a.svg"), sys.executable, "-c", "raise SystemExit(3)"]
    assert recording.main(words) == 1
    assert not (tmp_path / "a.svg").exists()
    with pytest.raises(subprocess.CalledProcessError):
        recording.printed([sys.executable, "-c", "raise SystemExit(3)"])


def test_the_picture_of_the_demo_is_whole() -> None:
    shown = text_of((REPOSITORY / "docs" / "pictures" / "demo.svg").read_text(encoding="utf-8"))
    assert "$ kiwicha demo" in shown
    assert "answer: astronaut.png shows: face (" in shown
    assert "bit-exact" in shown
    assert "\N{HORIZONTAL ELLIPSIS}" not in shown
