"""What every command has in common: usage, versions, errors and exit codes."""

import importlib
import subprocess
import sys
from typing import Never

import pytest

from kiwicha import cli, doctor, errors, tools
from kiwicha.commands import execution
from tests.support.commands.command_line import Command

HEAVY = ("amaranth", "litex", "migen", "numpy", "PIL", "tflite")


def test_help_is_quick_because_it_loads_nothing_heavy() -> None:
    code = (
        "import sys; from kiwicha.cli import main; code = main(['--help']); "
        f"sys.stderr.write(' '.join(m for m in {HEAVY} if m in sys.modules)); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    for name in (
        "demo",
        "run",
        "bench",
        "compile",
        "models",
        "gallery",
        "area",
        "timing",
        "--debug",
    ):
        assert name in done.stdout


def test_the_installed_command_returns_the_exit_code() -> None:
    words = [sys.executable, "-m", "kiwicha.cli", "run", "nothing"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("kiwicha: model must be a file, a name")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--versio"], "No such option: --versio"),
        (["rum"], "No such command 'rum'."),
        (["run"], "Missing argument"),
        (["run", "demo", "--target", "fpga"], "Invalid value for '--target': "),
        (["run", "demo", "--max-cycles", "0"], "Invalid value for '--max-cycles': "),
        (["models", "list", "extra"], "Got unexpected extra argument"),
    ],
)
def test_wrong_usage_is_one_line(kiwicha: Command, words: list[str], text: str) -> None:
    assert kiwicha.error(*words).startswith(text)


def test_version(kiwicha: Command) -> None:
    assert kiwicha("--version") == (0, "kiwicha 0.1.0\n", "")
    assert importlib.import_module("kiwicha").__version__ == "0.1.0"


def test_verbose_shows_what_tools_print(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, empty_machine: None
) -> None:
    def call() -> tuple[doctor.Tool, ...]:
        tools.run([sys.executable, "-c", "print('hello')"], name="the tool")
        return ()

    monkeypatch.setattr(doctor, "examine", call)
    code, _, err = kiwicha("doctor", "--verbose")
    assert code == 0
    assert f"$ {sys.executable} -c " in err
    assert "\nhello\n# the tool: exit status 0 after 0." in err
    assert kiwicha("doctor")[2] == ""


@pytest.mark.parametrize("words", [["--debug", "run", "nope"], ["run", "nope", "--debug"]])
def test_debug_anywhere_raises_the_error(words: list[str]) -> None:
    with pytest.raises(errors.UsageError, match=r"not 'nope'"):
        cli.main(words)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (errors.ToolError("make failed:\n  one\n\n  two"), "make failed: one; two"),
        (OSError(28, "No space left on device"), "disk must have room: No space left on device"),
        (OSError(28, "No space left", "/x"), "disk must have room: No space left (/x)"),
        (OSError(5, "I/O"), "internal error, please report it: OSError: [Errno 5] I/O"),
        (TypeError("oh"), "internal error, please report it: TypeError: oh"),
    ],
)
def test_whatever_happens_is_one_line(
    kiwicha: Command,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    line: str,
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(doctor, "examine", fail)
    assert kiwicha("doctor") == (2, "", f"kiwicha: {line}\n")


def interrupt(*_: object, **__: object) -> Never:
    raise KeyboardInterrupt


def test_an_interrupt_is_one_line(kiwicha: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "examine", interrupt)
    code, out, err = kiwicha("doctor")
    assert (code, out, err.strip()) == (130, "", "kiwicha: interrupted")


@pytest.mark.parametrize("is_debug", [False, True])
def test_an_interrupt_of_a_long_command_tells_what_is_kept(
    kiwicha: Command, monkeypatch: pytest.MonkeyPatch, is_debug: bool
) -> None:
    monkeypatch.setattr(execution, "run_simulated", interrupt)
    line = "kiwicha: interrupted; kept: finished builds; run the same command again to continue\n"
    assert kiwicha("run", "demo", *(["--debug"] if is_debug else [])) == (130, "", line)
