"""``kiwicha energy``, and what ``kiwicha mlperf run --energy`` says of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwicha.sim.profile import toggles
from tests.sim.profile.test_toggles import TOGGLES
from tests.support.commands.command_line import Command


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let toggles be those of the tests, and give the configurations that were simulated."""
    configs: list[str] = []

    def count_toggles(program: Any, inputs: Any, **more: Any) -> toggles.Toggles:
        configs.append(program.config.name)
        assert more["inferences"] == 2
        if more["saif"] is not None:
            more["saif"].write_text("(SAIFILE")
        return TOGGLES

    monkeypatch.setattr(toggles, "count_toggles", count_toggles)
    return configs


def test_events_are_counted_and_the_energy_is_their_sum(
    kiwicha: Command, tiny: Path, counted: list[str], tmp_path: Path
) -> None:
    made, saif = tmp_path / "e.json", tmp_path / "e.saif"
    code, out, _ = kiwicha("energy", tiny, "--json", made, "--saif", saif)
    assert (code, counted, saif.exists()) == (0, ["64"], True)
    found = json.loads(made.read_text())
    assert found["events"]["logic"]["count"] == 300
    assert "ProASIC" in found["events"]["logic"]["source"]
    sums = [event["count"] * event["picojoules"] for event in found["events"].values()]
    assert found["estimated_dynamic_microjoules"] == pytest.approx(1e-6 * sum(sums))
    assert "an estimate of the dynamic energy of the CFU's core" in out
    assert "without static power, CPU, memory controller, pins and DRAM" in " ".join(out.split())


def test_figures_can_be_given(kiwicha: Command, tiny: Path, counted: list[str]) -> None:
    names = ["clock", "flip-flop", "logic", "product", "memory"]
    words = [word for name in names for word in ("--per", f"{name}=0")]
    code, out, _ = kiwicha("energy", tiny, *words, "--per", "memory=1e6")
    assert code == 0
    (row,) = (line for line in out.splitlines() if line.startswith("│ all "))
    assert " 800.0 " in row
    assert "logic: given by the user" in out


@pytest.mark.parametrize("given", ["logic", "logic=-1", "logic=nan", "wires=1", "=1", "logic=inf"])
def test_other_figures_are_refused(kiwicha: Command, tiny: Path, given: str) -> None:
    assert kiwicha.error("energy", tiny, "--per", given) == (
        "an energy must be EVENT=PICOJOULES with an event of clock, flip-flop, logic, product, "
        f"memory and 0 or more picojoules, not {given!r}"
    )


def test_a_configuration_without_a_cfu_is_refused(kiwicha: Command, tiny: Path) -> None:
    line = kiwicha.error("energy", tiny, "--config", "baseline")
    assert line.startswith("config must be one with a CFU (simd or ")
    assert line.endswith(", not 'baseline'")


def test_benchmarks_have_it_where_it_is_asked_for(
    kiwicha: Command,
    hardware: Any,
    counted: list[str],
    zoo_model: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("KIWICHA_MODELS", str(zoo_model("mlperf_kws_ref_model").parent))
    made = tmp_path / "a.json"
    assert kiwicha("mlperf", "run", "kws", "--json", made)[0] == 0
    (result,) = json.loads(made.read_text())["results"]
    assert "energy" not in result
    code, out, _ = kiwicha("mlperf", "run", "kws", "--energy", "--json", made)
    assert code == 0
    (result,) = json.loads(made.read_text())["results"]
    assert result["energy"]["cycles"] == TOGGLES.cycles
    assert "kws on 64: about " in out
    line = kiwicha.error("mlperf", "run", "kws", "--energy", "--config", "64,baseline")
    assert line.startswith("config must be one with a CFU")


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_simulated_cfu_is_counted(kiwicha: Command, tmp_path: Path) -> None:
    made, saif = tmp_path / "e.json", tmp_path / "e.saif"
    code, _, err = kiwicha("energy", "demo", "--config", "simd", "--json", made, "--saif", saif)
    assert code == 0, err
    found = json.loads(made.read_text())
    events = {name: event["count"] for name, event in found["events"].items()}
    # The instruction tier has no block RAM, and waits for the CPU in most cycles.
    assert events.pop("memory") == 0
    assert min(events.values()) > 0
    bits = found["driven_bits"]
    assert events["clock"] == bits["flip-flops"] * found["cycles"]
    assert events["flip-flop"] < events["clock"] / 10
    assert events["product"] <= bits["multipliers"] * found["cycles"]
    assert "(INSTANCE Cfu\n" in saif.read_text()
