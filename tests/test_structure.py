"""The project's shape: who may import whom, and what is installed."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.support.requirements import REPOSITORY

PYPROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
SETUPTOOLS = PYPROJECT["tool"]["setuptools"]
ROOTS = {name: REPOSITORY / folder for name, folder in SETUPTOOLS["package-dir"].items()}
HARDWARE_LIBRARIES = {"amaranth", "amaranth_boards", "litedram", "litex", "migen"}

# contract <- {compiler, gateware} <- firmware <- sim <- boards <- commands: never to the right.
CONTRACT = ["compiler", "gateware", "firmware", "sim", "boards", "cli", "commands"]
FORBIDDEN = {
    **{
        f"kiwicha.{ground}": {f"kiwicha.{name}" for name in CONTRACT} | HARDWARE_LIBRARIES
        for ground in ("contract", "numerics", "program")
    },
    "kiwicha.compiler": {f"kiwicha.{name}" for name in CONTRACT[1:]} | HARDWARE_LIBRARIES,
    "kiwicha.gateware": {"kiwicha.compiler", *(f"kiwicha.{name}" for name in CONTRACT[2:])},
    "kiwicha.firmware": {"kiwicha.compiler", *(f"kiwicha.{name}" for name in CONTRACT[3:])},
    "kiwicha.sim": {"kiwicha.boards", "kiwicha.cli", "kiwicha.commands"},
    # {reference, soc} <- verilator <- profile; boards need no simulator.
    "kiwicha.sim.reference": {
        *("kiwicha.sim.soc", "kiwicha.sim.verilator", "kiwicha.sim.profile"),
        *HARDWARE_LIBRARIES,
    },
    "kiwicha.sim.soc": {
        *("kiwicha.sim.reference", "kiwicha.sim.verilator", "kiwicha.sim.profile"),
        "kiwicha.compiler",
    },
    "kiwicha.sim.verilator": {"kiwicha.sim.reference", "kiwicha.sim.profile", "kiwicha.compiler"},
    "kiwicha.boards": {
        *("kiwicha.sim.verilator", "kiwicha.sim.profile"),
        *("kiwicha.cli", "kiwicha.commands"),
    },
}


def module_name(path: Path) -> str:
    """Give the name under which a file of the tree is imported."""
    package, root = max(
        ((name, root) for name, root in ROOTS.items() if path.is_relative_to(root)),
        key=lambda item: len(item[1].parts),
    )
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join([package, *(part for part in parts if part != "__init__")])


def sources() -> dict[str, Path]:
    return {module_name(path): path for root in ROOTS.values() for path in root.rglob("*.py")}


def imports(path: Path) -> set[str]:
    """Give the modules that a file imports, those inside functions included."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} must use absolute imports"
            module = node.module or ""
            found |= {module} | {f"{module}.{name.name}" for name in node.names}
    return found


def belongs(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def test_imports_follow_the_arrows() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name, path in sources().items()
        for package, forbidden in FORBIDDEN.items()
        if belongs(name, package)
        for imported in imports(path)
        if any(belongs(imported, other) for other in forbidden)
    ]
    assert not wrong


def test_commands_print_through_one_console() -> None:
    """What a rich console of another kind prints, it may take for marks of styles."""
    users = {name for name, path in sources().items() if "rich.console" in imports(path)}
    assert users - {"kiwicha.training.__main__"} == {"kiwicha.commands.console"}


def test_the_arrows_name_packages_that_exist() -> None:
    known = set(sources())
    assert set(FORBIDDEN) <= known
    assert {"kiwicha.gateware", "kiwicha.sim", "kiwicha.boards", "kiwicha.firmware"} <= known


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("kiwicha.compiler", ["amaranth", "litex", "migen", "kiwicha.gateware", "kiwicha.sim"]),
        ("kiwicha.sim.reference.executor", ["amaranth", "litex", "migen", "kiwicha.gateware"]),
        (
            "kiwicha.contract.cfu",
            ["amaranth", "kiwicha.compiler", "kiwicha.gateware", "kiwicha.sim"],
        ),
    ],
)
def test_importing_does_not_load(module: str, unwanted: list[str]) -> None:
    """Catches what comes in through a third module."""
    program = (
        f"import sys, {module}\n"
        f"loaded = sorted(name for name in {unwanted} if name in sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr


def test_the_package_list_equals_the_tree() -> None:
    packages = {module_name(path) for root in ROOTS.values() for path in root.rglob("__init__.py")}
    assert set(SETUPTOOLS["packages"]) == packages
    assert len(SETUPTOOLS["packages"]) == len(packages)


def test_every_module_lies_in_a_package() -> None:
    homeless = [
        str(path.relative_to(REPOSITORY))
        for path in sources().values()
        if not (path.parent / "__init__.py").exists()
    ]
    assert not homeless


def test_package_roots_are_mapped_once() -> None:
    assert len(set(ROOTS.values())) == len(ROOTS)
    assert all((root / "__init__.py").exists() for root in ROOTS.values())


def test_tests_mirror_the_folders() -> None:
    """A folder of tests has the path of what it tests."""
    tests = REPOSITORY / "tests"
    folders = {
        path.relative_to(tests).as_posix()
        for path in tests.rglob("*")
        if path.is_dir() and list(path.glob("test_*.py"))
    } - {"."}
    mirrored = {name.removeprefix("kiwicha.").replace(".", "/") for name in SETUPTOOLS["packages"]}
    mirrored |= {
        path.parent.relative_to(REPOSITORY).as_posix()
        for path in (REPOSITORY / "tools").rglob("__init__.py")
    }
    assert folders <= mirrored
