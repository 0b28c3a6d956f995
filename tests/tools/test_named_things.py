"""What the documents name exists: links, commands, files, modules, symbols."""

import functools
import pkgutil
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from kiwicha import cli, custom
from tests.support.requirements import REPOSITORY

PAGES = [*sorted(REPOSITORY.glob("*.md")), *sorted((REPOSITORY / "docs").rglob("*.md"))]
GUIDES = [page for page in PAGES if page.parent.name == "guides"]
WORKFLOWS = sorted((REPOSITORY / ".github").rglob("*.yml"))
SOURCE = r"[\w.-]+(?:/[\w.-]+)*\.(?:py|c|h|toml|md)"
# What guides add, and headers that are generated.
MADE = {
    "boards/versa_ecp5.py",
    "firmware/kernels/simd_mean.c",
    "src/kiwicha/kernels/simd_mean.py",
    "freestanding/string.h",
    "kiwicha_isa.h",
}
# Capitals stand for names to be chosen; `build` and a library's folders are output.
PLACEHOLDER = r"(?<![A-Za-z])(?:NAME|BOARD|CONFIG|FUNCTION)(?![A-Za-z])|^build/"
OUTPUT_FOLDERS = {"custom/", "runtime/", "kernels/", "model/", "system/generated/"}
FENCED = r"^ *```.*?^ *```"
by_name = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(REPOSITORY).as_posix()
)


def spans(text: str) -> list[str]:
    """Return what stands between backticks in running text."""
    prose = re.sub(FENCED, "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", prose)


def commands(text: str, name: str) -> list[str]:
    """Return the lines of code, and the spans, that begin with a command."""
    lines = [part for line in text.splitlines() for part in line.strip().split(" && ")]
    return [line for line in [*lines, *spans(text)] if re.match(rf"{name} [a-z-]", line)]


@pytest.fixture(scope="module")
def tree() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        return [path.relative_to(REPOSITORY).as_posix() for path in REPOSITORY.rglob("*.*")]
    return listed.stdout.splitlines()


@functools.cache
def words_of(path: str) -> frozenset[str]:
    """Return the words of a file of the project."""
    return frozenset(re.findall(r"\w+", (REPOSITORY / path).read_text(encoding="utf-8")))


def matches(tree: list[str], name: str) -> list[str]:
    """Return the files that a name, or the end of a path, stands for."""
    return [path for path in tree if path == name or path.endswith(f"/{name}")]


GROUPS = {"mlperf", "models"}
"""Commands that have commands of their own."""


@by_name
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@by_name
def test_commands_and_options_exist(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for line in commands(page.read_text(encoding="utf-8"), "kiwicha"):
        words = line.split()[1:]
        command = words[:2] if words[0] in GROUPS and len(words) > 1 else words[:1]
        assert cli.main([*command, "--help"]) == 0, line
        known = capsys.readouterr().out
        for option in re.findall(r"(?<![\w-])--[a-z-]+", line):
            assert option in known, line


@by_name
def test_tests_sessions_and_modules_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for line in commands(text, "pytest"):
        for path in re.findall(r"(?<!\S)tests/\S+", line):
            assert (REPOSITORY / path).exists(), line
    sessions = re.findall(r"^def (\w+)\(", (REPOSITORY / "noxfile.py").read_text(), re.MULTILINE)
    for name in re.findall(r"nox -s (\w+)", text):
        assert name in sessions
    for name in re.findall(r"python -m ((?:kiwicha|tools)[\w.]*)", text):
        assert find_spec(name.rstrip(".")) is not None, name


@pytest.mark.parametrize(
    "page", [*PAGES, *WORKFLOWS], ids=lambda page: page.relative_to(REPOSITORY).as_posix()
)
def test_make_targets_exist(page: Path) -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(FENCED, text, re.DOTALL | re.MULTILINE)
    words = [line.strip() for block in blocks for line in block.splitlines()]
    words += spans(text) + re.findall(r"^ *- run: (.+)", text, re.MULTILINE)
    for name in filter(None, (re.match(r"make ([a-z-]+)", word) for word in words)):
        assert name[1] in targets, name[1]


@by_name
def test_named_files_exist(page: Path, tree: list[str]) -> None:
    for name in spans(page.read_text(encoding="utf-8")):
        if re.search(PLACEHOLDER, name) or name in MADE:
            continue
        if re.fullmatch(SOURCE, name):
            assert matches(tree, name), name
        elif re.fullmatch(r"(?:[\w.-]+/)+", name) and name not in OUTPUT_FOLDERS:
            assert any(f"/{name}" in f"/{path}" for path in tree), name


@by_name
def test_python_names_can_be_imported(page: Path) -> None:
    for name in spans(page.read_text(encoding="utf-8")):
        if re.fullmatch(r"kiwicha(\.\w+)+", name) and name != custom.ENTRY_POINT_GROUP:
            pkgutil.resolve_name(name)


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_symbols_are_in_the_files_of_their_section(page: Path, tree: list[str]) -> None:
    """A guide's own code may bring symbols of its own."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(FENCED, text, re.DOTALL | re.MULTILINE)
    own = set(re.findall(r"\w+", " ".join(blocks)))
    sources = [path for path in tree if re.search(r"\.(?:py|c|h|toml)$", path)]
    for section in re.split(r"^#+ ", text, flags=re.MULTILINE):
        names = spans(section)
        paths = [path for name in names for path in matches(sources, name)] or sources
        there = own.union(*map(words_of, dict.fromkeys(paths)))
        for name in names:
            is_file = re.fullmatch(SOURCE, name)
            if is_file or re.search(rf"{PLACEHOLDER}|^kiwicha\.|[^\w.]", name):
                continue
            # Words such as `sys` are no symbols of ours.
            for word in re.findall(r"\w*(?:_|[a-z][A-Z]|\b[A-Z])\w*", name):
                assert word in there, f"{name} in {paths}"
