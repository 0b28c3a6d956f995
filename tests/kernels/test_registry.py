"""Every kernel is declared once, in all its parts, and found in C under the same name."""

import re

import pytest

from kiwicha.contract.configs import ALL_CONFIGS
from kiwicha.contract.program import Kernel, Where
from kiwicha.firmware.sources import FOLDER
from kiwicha.kernels.registry import KERNELS, MODULES, kernels_of

_OF_ENGINE = {Kernel.ENGINE, Kernel.COMPUTED_LIST}
_WITHOUT_REFERENCE = {Kernel.CUSTOM, *_OF_ENGINE}
"""A custom operator brings its own; that of lists is `kiwicha.sim.reference.engine`."""


def test_each_kernel_is_declared_once() -> None:
    declared = [item.kernel for found in MODULES.values() for item in found]
    assert sorted(declared) == sorted(Kernel)
    assert list(KERNELS) == sorted(Kernel)


@pytest.mark.parametrize("kernel", Kernel, ids=lambda kernel: kernel.name)
def test_a_declaration_is_complete(kernel: Kernel) -> None:
    item = KERNELS[kernel]
    assert (item.reference is None) == (kernel in _WITHOUT_REFERENCE)
    assert (item.cost is None) == (item.work is None) == (kernel.where is Where.ENGINE)
    assert bool(item.replaces) == (kernel.where is Where.SIMD)
    assert all(KERNELS[other].params is item.params for other in item.replaces)
    references = {name for name, field, _ in item.params.layout() if field.base == "ref"}
    assert set(item.optional) <= references


@pytest.mark.parametrize(
    "kernel",
    [kernel for kernel in Kernel if kernel.where is not Where.ENGINE],
    ids=lambda x: x.name,
)
def test_what_executors_rely_on(kernel: Kernel) -> None:
    bases = {name: field.base for name, field, _ in KERNELS[kernel].params.layout()}
    assert bases["output"] == "ref"
    assert bases.get("scratch", "ref") == "ref"
    assert "ref" in {base for name, base in bases.items() if name.startswith("input")}


@pytest.mark.parametrize("name", MODULES)
def test_the_c_file_has_the_name_of_the_declaration(name: str) -> None:
    text = (FOLDER / "kernels" / f"{name}.c").read_text(encoding="utf-8")
    functions = re.findall(r"^(?:KIWICHA_\w+ )?enum kiwicha_status\s+kiwicha_(\w+)\(", text, re.M)
    wanted = {f"check_{item.c_check}" for item in MODULES[name]}
    wanted |= {f"run_{item.c_name}" for item in MODULES[name]}
    assert {x for x in functions if x.startswith(("check_", "run_"))} == wanted


def test_each_configuration_has_its_kernels() -> None:
    for config in ALL_CONFIGS.values():
        places = {item.kernel.where for item in kernels_of(config)}
        assert (Where.SIMD in places) == config.has_simd
        assert (Where.ENGINE in places) == bool(config.engine_macs)
        assert (Where.SIGNAL in places) == config.has_signal
        assert Where.CPU in places


def test_nothing_else_lists_the_kernels() -> None:
    """C has the table from the header alone."""
    for path in FOLDER.rglob("*.[ch]"):
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r"KIWICHA_KERNEL_(\w+)", text)) & {x.name for x in Kernel}
        assert named <= {kernel.name for kernel in _OF_ENGINE}, path
