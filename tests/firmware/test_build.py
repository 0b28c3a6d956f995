"""The firmware build: what fits, what does not, and what does not compile."""

import dataclasses
from pathlib import Path

import pytest

from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS, Config
from kiwicha.contract.program import Kernel
from kiwicha.errors import CapacityError, ToolError
from kiwicha.firmware.build import build_firmware
from kiwicha.firmware.elf import read_elf
from kiwicha.kernels.registry import KERNELS
from kiwicha.sim.verilator.simulator import soc_header_text

MAIN = "int main(void);\nint main(void) {{ return {value}; }}\n"


@pytest.fixture(scope="session")
def soc_header() -> str:
    return soc_header_text(CONFIGS["simd"])


def write_main(folder: Path, text: str) -> Path:
    path = folder / "main.c"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS.values(), ids=lambda config: config.name)
def test_every_configuration_fits(config: Config, soc_header: str) -> None:
    image = build_firmware(config, soc_header)
    assert len(image.raw) == image.text_bytes + image.data_bytes
    used = image.text_bytes + image.data_bytes + image.bss_bytes
    assert used + image.stack_bytes == cfu.ONCHIP_BYTES
    assert image.stack_bytes >= cfu.STACK_BYTES


@pytest.mark.nightly
@pytest.mark.slow
def test_kernels_on_demand_are_there_for_programs_that_call_them(
    soc_header: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kernels(*called: Kernel) -> set[str]:
        image = build_firmware(CONFIGS["baseline"], soc_header, kernels=called)
        names = read_elf(image.elf.read_bytes()).symbols
        return {
            item.kernel.name for item in KERNELS.values() if f"kiwicha_run_{item.c_name}" in names
        }

    rare = Kernel.PRELU
    everything = kernels()
    assert {"PRELU", "CONV"} <= everything
    assert kernels(rare) == everything
    monkeypatch.setitem(KERNELS, rare, dataclasses.replace(KERNELS[rare], is_on_demand=True))
    assert kernels() == kernels(Kernel.COPY) == everything - {"PRELU"}
    assert kernels(Kernel.COPY, rare) == {"COPY", "PRELU"}


@pytest.mark.slow
def test_it_is_compiled_once_per_input(soc_header: str, tmp_path: Path) -> None:
    calls: list[str] = []

    def build(config: str, value: int) -> bytes:
        main = write_main(tmp_path, MAIN.format(value=value))
        return build_firmware(
            CONFIGS[config], soc_header, main=main, on_build=lambda: calls.append("build")
        ).raw

    first = build("baseline", 42424242)
    before = len(calls)
    assert build("baseline", 42424242) == first
    assert len(calls) == before
    assert build("baseline", 42424243) != first


@pytest.mark.slow
def test_too_much_is_refused_with_all_sizes(soc_header: str, tmp_path: Path) -> None:
    words = cfu.ONCHIP_BYTES // 4
    main = write_main(
        tmp_path,
        f"#include <stdint.h>\nint main(void);\nvolatile uint32_t big[{words}] = {{1}};\n"
        "int main(void) { return (int)big[5]; }\n",
    )
    with pytest.raises(CapacityError) as caught:
        build_firmware(CONFIGS["baseline"], soc_header, main=main)
    text = str(caught.value)
    assert text.startswith(
        f"firmware must leave {cfu.STACK_BYTES} bytes of {cfu.ONCHIP_BYTES} bytes "
        "for the stack, not -"
    )
    assert f"data {cfu.ONCHIP_BYTES}, bss " in text


def test_a_warning_is_an_error(soc_header: str, tmp_path: Path) -> None:
    main = write_main(tmp_path, "int main(void) { return 0; }\nint stray(void) { return 1; }\n")
    with pytest.raises(ToolError, match=r"the RISC-V compiler failed .*\n[\s\S]*stray"):
        build_firmware(CONFIGS["baseline"], soc_header, main=main)
