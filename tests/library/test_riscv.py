"""A library for the CPU of the system: its size, its stack, and what it asks of others."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha import tools
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.contract.program import Kernel
from kiwicha.errors import ToolError
from kiwicha.firmware.elf import read_elf
from kiwicha.kernels import stack
from kiwicha.kernels.registry import KERNELS, kernels_of
from tests.support import library_builds, objects, requirements

PAGE = requirements.REPOSITORY / "docs" / "c-api.md"
MOST_BYTES = 24 * 1024
"""Of a library without its Program, with the example and our platform."""
PLATFORM = {
    "kiwicha_platform_cycles",
    "kiwicha_platform_drain_stores",
    "kiwicha_platform_forget_cached",
}
MEMORY = {"memcpy", "memmove", "memset"}
ARITHMETIC = {"__ashrdi3", "__ashldi3", "__lshrdi3", "__divdi3", "__moddi3", "__udivdi3"}
"""What compilers bring along for numbers of 64 bits; a call takes less than a kernel's margin."""
FLOATS = {
    *("__adddf3", "__addsf3", "__divsf3", "__muldf3", "__mulsf3", "__subsf3"),
    *("__extendsfdf2", "__truncdfsf2", "__fixsfdi", "__floatdisf", "__floatundisf"),
    *("__floatsisf", "__floatunsisf", "__gesf2", "__gtsf2", "__lesf2", "__nesf2", "__unordsf2"),
}
"""What they bring along for CAST and detectors, which alone compute with floats."""
RUNTIME = ("invoke", "start", "poll", "wait", "close", "reset", "find_input", "status_text")
GLOBALS = {"running_model"}
CALLED_BY_TABLE = "kernel_table.o:"


@pytest.fixture(scope="module")
def person_detect(
    zoo_model: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give the folder of a library for `64` that is compiled with sizes of frames."""
    root = tmp_path_factory.mktemp("riscv")
    library_builds.write_library(root, "64", person=zoo_model("person_detect").read_bytes())
    compile_for_frames(root, "-O2")
    return root


def compile_for_frames(root: Path, level: str) -> None:
    flags = f"{level} -fno-sanitize=undefined -Werror -fstack-size-section"
    library_builds.riscv_library(root, flags=flags)


def objects_of(root: Path) -> list[tuple[str, bytes]]:
    return [(path.name, path.read_bytes()) for path in sorted((root / "build").rglob("*.o"))]


@pytest.mark.nightly
@pytest.mark.slow
def test_one_model_is_small(person_detect: Path) -> None:
    elf = library_builds.riscv_application(person_detect, "64")
    symbols = read_elf(elf.read_bytes()).symbols
    used = symbols["kiwicha_data_end"] - cfu.IMAGE_ADDRESS
    beside = used - len((person_detect / "person.kiwicha").read_bytes())
    assert beside <= MOST_BYTES
    (said,) = re.findall(r"less than (\d+) KiB beside its\s+Program", PAGE.read_text())
    assert 0.75 * int(said) * 1024 < beside < int(said) * 1024
    # Kernels that the model does not name stay in the archive.
    assert symbols["kiwicha_run_softmax"] > 0
    assert symbols["kiwicha_run_simd_conv"] == 0


@pytest.mark.slow
def test_it_has_one_global_and_needs_little(person_detect: Path) -> None:
    found = objects.read_objects(objects_of(person_detect))
    assert found.writable == GLOBALS
    assert found.undefined <= PLATFORM | MEMORY | ARITHMETIC | FLOATS
    assert found.undefined >= PLATFORM


def check_stack(root: Path, config: str) -> None:
    calls = objects.read_objects(objects_of(root))
    # What the table calls is known, and follows below.
    for name in calls.edges:
        if name.startswith(CALLED_BY_TABLE):
            calls.edges[name] = set()

    def depth(function: str) -> int:
        return calls.depth(f"kiwicha_{function}")

    kernels = kernels_of(find_config(config))
    checks = max(depth(f"check_{item.c_check}") for item in kernels)
    assert depth("open") + checks <= stack.OPEN_BYTES
    assert max(map(depth, RUNTIME)) <= stack.RUNTIME_BYTES
    for item in kernels:
        most = stack.RUN_BYTES.get(item.kernel, stack.OTHER_RUN_BYTES)
        assert depth(f"run_{item.c_name}") <= most, item.kernel
        # A table of old numbers would say too much.
        if item.kernel in stack.RUN_BYTES and config not in {"baseline", "simd"}:
            assert depth(f"run_{item.c_name}") >= 0.75 * most, item.kernel


@pytest.mark.slow
def test_what_is_not_filled_in_says_so(person_detect: Path) -> None:
    with pytest.raises(ToolError, match="Define KIWICHA_CSR_DRAM_BRIDGE_DRAINED: the address of"):
        tools.run(
            [*tools.zig().command, "cc", *library_builds.RISCV, "-I.", "-c", "platform/platform.c"],
            name="zig",
            folder=person_detect,
        )


@pytest.mark.slow
def test_the_stack_is_known(person_detect: Path) -> None:
    check_stack(person_detect, "64")


@pytest.mark.nightly
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
@pytest.mark.parametrize("config", ["baseline", "simd", "64"])
def test_the_stack_is_known_whatever_is_compiled(
    config: str, level: str, models: dict[str, bytes], tmp_path: Path
) -> None:
    root = library_builds.write_library(tmp_path, config, first=models["first"])
    compile_for_frames(root, level)
    check_stack(root, config)


def test_the_stack_of_a_model_is_that_of_its_kernels() -> None:
    small = stack.stack_bytes([Kernel.ENGINE])
    assert small == stack.stack_bytes([]) >= stack.OPEN_BYTES
    assert 2 * stack.stack_bytes([Kernel.ENGINE, Kernel.SIMD_CONV]) > 3 * small
    assert set(stack.RUN_BYTES) < set(KERNELS)
    assert stack.stack_bytes(Kernel) <= cfu.STACK_BYTES
