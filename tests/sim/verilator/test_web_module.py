"""The simulator for a page: only what it has of DRAM differs."""

import pytest

from kiwicha.errors import ToolError
from kiwicha.sim.verilator.web_module import with_less_dram

BANKS = ("reg [127:0] dram_bank0[0:2047];", "reg [127:0] dram_bank1[0:2047];")
SOC = "\n".join((BANKS[0], "reg [20:0] dram_bank0_adr0;", BANKS[1], ""))
MEMORIES = "constexpr uint32_t kDramBytes = 65536;\nconstexpr uint32_t kDramBanks = 2;\n"


def test_banks_are_as_long_as_their_share() -> None:
    found = with_less_dram({"soc.v": SOC, "memories.h": MEMORIES}, 16384)
    assert found == {
        "soc.v": SOC.replace("[0:2047]", "[0:511]"),
        "memories.h": MEMORIES.replace("65536", "16384"),
    }


def test_a_system_with_less_stays_as_it_is() -> None:
    files = {"soc.v": SOC, "memories.h": MEMORIES}
    assert with_less_dram(files, 1 << 20) == files


@pytest.mark.parametrize("name", ["soc.v", "memories.h"])
def test_another_system_is_refused(name: str) -> None:
    files = {"soc.v": SOC, "memories.h": MEMORIES} | {name: ""}
    with pytest.raises(ToolError, match="must have banks of DRAM"):
        with_less_dram(files, 16384)
