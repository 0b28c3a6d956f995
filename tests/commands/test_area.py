"""``kiwicha area``."""

import json

import pytest
from support.command_line import Command


def test_area_needs_a_cfu(kiwicha: Command) -> None:
    assert kiwicha.error("area", "--config", "baseline") == (
        "config must be one with a CFU (simd or 32 or 64 or 128), not 'baseline'"
    )


@pytest.mark.synth
def test_area_counts_resources(kiwicha: Command) -> None:
    code, out, err = kiwicha("area", "--json", "-")
    assert code == 0, err
    resources = json.loads(out)["resources"]
    assert resources["LUT"] > 0
    assert resources["DSP48E1"] > 0
