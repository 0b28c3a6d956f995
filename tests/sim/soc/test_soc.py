"""The system on chip as Verilog: equal text for equal inputs, and the parts it must have."""

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kiwicha.contract import cfu
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.sim.soc.system_on_chip import Soc
from tests.support.requirements import REPOSITORY

FILES = ["cfu.v", "cpu.v", "kiwicha_soc.h", "memories.h", "probes.h", "soc.v"]


def elaborate(folder: Path, seed: str) -> dict[str, str]:
    folder.mkdir()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "kiwicha.sim.soc.elaborate",
            "simd",
            DDR3_QUARTER_RATE.name,
            str(folder),
        ],
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
    )
    found = [path for path in sorted(folder.iterdir()) if path.is_file()]
    return {path.name: path.read_text(encoding="utf-8") for path in found}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return elaborate(tmp_path_factory.mktemp("soc") / "first", "1")


@pytest.mark.nightly
def test_the_text_depends_on_the_inputs_alone(texts: dict[str, str], tmp_path: Path) -> None:
    assert list(texts) == FILES
    assert elaborate(tmp_path / "elsewhere", "2") == texts


def test_no_text_names_a_time_or_a_place(texts: dict[str, str]) -> None:
    for text in texts.values():
        assert not re.search(r"20\d\d-\d\d-\d\d", text)
        assert sys.prefix not in text
        assert str(REPOSITORY) not in text


def test_memories_are_as_the_memory_map_says(texts: dict[str, str]) -> None:
    soc = texts["soc.v"]
    assert f"reg [31:0] onchip[0:{cfu.ONCHIP_BYTES // 4 - 1}];" in soc
    # The controller's native word has 128 bits; eight banks make up the DRAM.
    words = cfu.DRAM_BYTES // 8 // 16
    assert [f"reg [127:0] dram_bank{bank}[0:{words - 1}];" in soc for bank in range(8)] == [
        True
    ] * 8


def test_the_header_has_what_firmware_uses(texts: dict[str, str]) -> None:
    defined = dict(re.findall(r"#define (\w+) (\w+)", texts["kiwicha_soc.h"]))
    used = set(re.findall(r"KIWICHA_CSR_\w+", _platform_sources()))
    assert len(used) >= 4
    assert used <= set(defined)
    addresses = [int(text.rstrip("u"), 16) for name, text in defined.items() if "_CSR_" in name]
    assert len(set(addresses)) == len(addresses)
    assert defined["KIWICHA_SYS_CLK_HZ"] == "100000000u"


def _platform_sources() -> str:
    folder = REPOSITORY / "firmware" / "platform"
    # Interrupts are only used by systems that have them.
    found = [path for path in sorted(folder.glob("*.c")) if path.name != "interrupts.c"]
    return "".join(path.read_text(encoding="utf-8") for path in found)


def test_firmware_that_is_too_large_is_refused() -> None:
    part = SimpleNamespace()
    with pytest.raises(ValueError, match=r"^firmware must have at most 45056 bytes, not 45057$"):
        Soc(
            part,
            crg=part,
            sdram_phy=part,
            sdram_module=part,
            controller_settings=part,
            cfu_file=Path("cfu.v"),
            firmware=bytes(45057),
        )
