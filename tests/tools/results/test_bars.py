"""A bar that is missed is named."""

import copy
from typing import Any

import pytest

from kiwicha.boards.capacity import SYSTEM
from kiwicha.boards.family import Family
from tests.support.requirements import REPOSITORY
from tools.results.bars import missed
from tools.results.catalogue import catalogue
from tools.results.kinds import BENCH
from tools.results.planned import GALLERY, SOFTMAX
from tools.results.result import Result

EXTRA = {"LUT": 10_000, "DSP48E1": 0, "BRAM36": 0}
SYSTEM_LUT = f"{SYSTEM[Family.XC7]['LUT']:,} LUT"


def changed(name: str, path: list[Any], value: Any) -> list[Result]:
    """Return the committed results with another value in one of them."""
    results = []
    for result in catalogue(REPOSITORY):
        contents = copy.deepcopy(result.contents)
        if result.name == name:
            place = contents
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
        results.append(Result(result.kind, result.path, contents))
    return results


@pytest.mark.parametrize(
    ("name", "path", "value", "words"),
    [
        ("boards/arty_a7_35-64", ["resources", "LUT"], 20_000, ["arty_a7_35-64", "LUT", "20,000"]),
        ("boards/arty_a7_100-128", ["resources", "BRAM36"], 1000, ["boards/arty_a7_100-128"]),
        ("boards/ecpix5_85f-64", ["timing", "fmax_mhz"], 10.5, ["85 MHz", "10.5"]),
        ("boards/ecpix5_85f-64", ["has_bitstream"], False, ["85 MHz"]),
        ("boards/ecpix5_85f-simd", ["build_seconds"], 5000, ["4500 s", "5000"]),
        ("timing/64", ["period_ns"], 13.5, ["timing/64", "10 ns", "13.5"]),
        ("bench/64-128", [0, "cycles"], 10**9, ["person_detect", "77%"]),
        ("bench/depthwise", [0, "cycles"], 10**9, ["person_detect on 64", "108,500"]),
        ("bench/64-128", [0, "period"], 10**7, ["stream of person_detect", "1.02", "not"]),
        ("boards/arty_a7_35-64", ["modules", "extra"], EXTRA, [SYSTEM_LUT]),
        ("beside/person_detect", ["asleep"], 0.89, ["90%", "89.0%"]),
        ("beside/person_detect", ["period", "sleep"], 10**6, ["the interrupt", "1.01"]),
        ("beside/person_detect", ["requests", "random"], 999, ["1,000", "999"]),
        ("beside/person_detect", ["longest_wait", "random"], 10**5, ["urgent", "100,000"]),
    ],
)
def test_a_missed_bar_is_named(name: str, path: list[Any], value: Any, words: list[str]) -> None:
    before = missed(catalogue(REPOSITORY))
    problems = [text for text in missed(changed(name, path, value)) if text not in before]
    assert len(problems) == 1
    assert all(word in problems[0] for word in words)


def gallery(
    cycles: int, cpu_cycles: int, macs: int = 0, path: str = GALLERY, config: str = "64"
) -> Result:
    """Return results of one run of the gallery, which Vela estimates at 1000 cycles."""
    layers = [
        {"where": "engine", "cycles": cycles - cpu_cycles},
        {"where": "CPU", "cycles": cpu_cycles},
    ]
    run = {"model": "x@32", "config": config, "cycles": cycles, "layers": layers, "macs": macs}
    return Result(BENCH, path, [{**run, "vela": {"cycles": 1000}}])


@pytest.mark.parametrize(
    ("cycles", "cpu_cycles", "macs", "words"),
    [
        (750, 30, 0, []),
        (751, 30, 0, ["x@32 on 64 must take 750 cycles or fewer, not 751"]),
        (700, 35, 0, ["x@32 on 64 must leave 4% to the CPU or less, not 5.0%"]),
        (900, 0, 64 * 855, []),
        (901, 0, 64 * 855, ["x@32 on 64 must take 900 cycles or fewer, not 901"]),
    ],
)
def test_bars_of_the_gallery(cycles: int, cpu_cycles: int, macs: int, words: list[str]) -> None:
    others = [result for result in catalogue(REPOSITORY) if result.path != GALLERY]
    before = missed([*others, gallery(1, 0)])
    assert [
        text for text in missed([*others, gallery(cycles, cpu_cycles, macs)]) if text not in before
    ] == words


@pytest.mark.parametrize(("cpu_cycles", "excused"), [(28, True), (35, False)])
def test_the_share_of_the_cpu_is_that_with_softmax_jobs(cpu_cycles: int, excused: bool) -> None:
    others = [result for result in catalogue(REPOSITORY) if result.path not in {GALLERY, SOFTMAX}]
    runs = gallery(740, 350), gallery(700, cpu_cycles, path=SOFTMAX, config="64-softmax")
    named = [text for text in missed([*others, *runs]) if text.startswith("x@32")]
    assert (named == []) is excused


def test_a_promised_result_that_is_not_there_is_named() -> None:
    for name in ("area/64", "bringup/ulx3s_85f", "boards/ecpix5_85f-32"):
        results = [result for result in catalogue(REPOSITORY) if result.name != name]
        assert f"{name} must be measured" in missed(results)
