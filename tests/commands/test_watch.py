"""Doing something again whenever a file changes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.commands.watch import watch
from kiwicha.errors import Interrupted, ModelError
from tests.support.commands.command_line import Command


def waiting(*actions: Callable[[], object]) -> Callable[[float], None]:
    """Do something at each look at the file, and interrupt at the end."""
    left = list(actions)

    def wait(_: float) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    return wait


def nothing() -> None:
    pass


def test_a_change_is_told_with_its_cycles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model"
    path.write_text("1000")
    wait = waiting(nothing, lambda: path.write_text("900"), nothing)
    with pytest.raises(Interrupted, match=f"no longer waiting for changes of {path}"):
        watch(path, lambda: int(path.read_text()), wait=wait)
    out, err = capsys.readouterr()
    assert out == "900 cycles, 1,000 before (-10.0 %)\n"
    assert err.count("waiting for changes of") == 2


def test_a_file_that_is_gone_or_being_written_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("1")
    seen: list[str] = []
    actions = (
        path.unlink,
        nothing,
        lambda: path.write_text("22"),
        lambda: path.write_text("333"),
        lambda: path.write_text("4444"),
        nothing,
    )
    with pytest.raises(Interrupted):
        watch(path, lambda: seen.append(path.read_text()), wait=waiting(*actions))
    assert seen == ["1", "4444"]


def test_a_refusal_is_told_and_what_was_before_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "model"
    path.write_text("50")

    def once() -> int:
        if path.read_text() == "bad":
            raise ModelError("not a model")
        return int(path.read_text())

    actions = [lambda: path.write_text("bad"), nothing, lambda: path.write_text("100"), nothing]
    with pytest.raises(Interrupted):
        watch(path, once, wait=waiting(*actions))
    out, err = capsys.readouterr()
    assert out == "100 cycles, 50 before (+100.0 %)\n"
    assert "kiwicha: not a model\n" in err


def test_compile_watches(
    kiwicha: Command, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tiny.tflite"
    path.write_bytes(tiny.read_bytes())
    wait = waiting(lambda: path.write_bytes(tiny.read_bytes() + bytes(4)), nothing)
    monkeypatch.setitem(watch.__kwdefaults__, "wait", wait)
    code, out, err = kiwicha("compile", path, "--config", "64", "--watch", "-o", tmp_path / "out")
    assert code == 130
    assert out.count(" bytes, 1 steps, ") == 2
    assert "before (+0.0 %)" in out
    assert err.endswith(f"kiwicha: interrupted; no longer waiting for changes of {path}\n")
