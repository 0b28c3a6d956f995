"""``kiwicha web``."""

from pathlib import Path

import pytest

from tests.support.commands.command_line import Command


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_page_is_written(kiwicha: Command, tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    code, out, _ = kiwicha("web", "demo", "-o", page)
    assert code == 0
    text = page.read_text(encoding="utf-8")
    assert out.split() == f"{page}: {len(text) / 1e6:.1f} MB; open it in a browser".split()
    assert "<title>demo on Kiwicha 64</title>" in text
    assert '"examples":["astronaut.png"]' in text


def test_a_configuration_without_an_engine_is_refused(kiwicha: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    error = kiwicha.error("web", "demo", "--config", "simd", "-o", page)
    assert "must simulate a configuration with an engine, such as 64, not simd" in error
    assert not page.exists()
