"""What others published."""

import pytest

from kiwicha.mlperf.benchmarks import BENCHMARKS
from kiwicha.mlperf.published import Published, published


def test_rounds_have_their_sources_the_latest_first() -> None:
    rounds = published()
    assert [(one.name, one.division) for one in rounds] == [
        ("v1.3", "closed"),
        ("v1.2", "closed"),
        ("v1.1", "closed"),
    ]
    for one in rounds:
        assert f"mlcommons/tiny_results_{one.name}, commit " in one.source


def system(name: str, submitter: str, board: str) -> Published:
    (systems,) = (one.systems for one in published() if one.name == name)
    (found,) = (one for one in systems if (one.submitter, one.system) == (submitter, board))
    return found


def test_latencies_are_those_of_the_rounds() -> None:
    zedboard = system("v1.1", "fpgaconvnet", "zedboard")
    assert zedboard.milliseconds("kws") == pytest.approx(1e3 / 3087.887)
    assert zedboard.milliseconds("ad") is None
    assert system("v1.1", "syntiant", "syntiant_9120_1v1_98mhz").clock == "98.7 MHz"
    assert system("v1.2", "kai_jiang", "VCU128").clock == "300 MHz"
    nucleo = system("v1.3", "STMicroelectronics", "NUCLEO_U575ZI_Q")
    assert nucleo.milliseconds("sww") == pytest.approx(1e3 / 85.981)


def test_all_are_of_known_benchmarks() -> None:
    names = {benchmark.name for benchmark in BENCHMARKS}
    for one in (system for found in published() for system in found.systems):
        assert one.inferences_per_second.keys() <= names
        assert one.inferences_per_second
        assert one.clock.endswith(" MHz")
