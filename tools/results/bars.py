"""Figures that committed results must reach; a release check asks for them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from kiwicha.boards.capacity import SYSTEM
from kiwicha.boards.family import Family
from kiwicha.contract.configs import find_config
from kiwicha.contract.program import Where
from tools.results.result import Result

__all__ = ["PERIODS", "missed"]

_AREA: Mapping[str, Mapping[str, float]] = {
    "area/64": {"LUT": 12_230, "FF": 28_000, "BRAM36": 31, "DSP48E1": 86},
    "area/128": {"LUT": 14_600, "DSP48E1": 88},
    "boards/arty_a7_35-64": {"LUT": 18_700, "BRAM36": 48, "DSP48E1": 90},
}
"""Resources that are enough."""
_FITTING = ("boards/arty_a7_100-128",)
_CLOCKS = {"boards/ecpix5_85f-64": 60, "boards/ecpix5_85f-simd": 75}
"""MHz that a bitstream reaches, in `_BUILD_SECONDS`."""
PERIODS = {"timing/64": 10.0, "timing/128": 10.0, "timing/simd": 9.0}
"""Nanoseconds of the worst path as it is estimated: as the boards' clock wants it, or less."""
_BUILD_SECONDS = 30 * 60
_UTILIZATION = {"resnet8": 0.85, "person_detect": 0.77}
"""Share of the products of ``64`` that models use."""
_PEER_SHARE = 0.75
"""Share of Vela's estimate for as many multipliers that models of the gallery take at most."""
_BUSY = 0.95
"""Share of the products of an engine that is enough, whatever Vela estimates: for networks of
convolutions alone, its estimate is little more than what the multipliers take."""
_STREAM = {"person_detect": 1.02}
"""Cycles from one inference of a stream to the next on ``64``, as a multiple of an inference's."""
_CPU_SHARE = 0.04
"""Share of their cycles that the CPU takes at most."""
_PROMISED = (
    *("boards/arty_a7_35-128-56k", "boards/ecpix5_85f-32", "boards/ecpix5_85f-64-6"),
    *("boards/ulx3s_85f-simd", "area/simd", "bringup/arty_a7_35", "bringup/ulx3s_85f"),
)
"""Without a bar of their own."""
_SYSTEMS = {"boards/arty_a7_35-64": Family.XC7, "boards/ecpix5_85f-64": Family.ECP5}
_SMALLER_SYSTEMS = {"boards/ulx3s_85f-simd": Family.ECP5, "boards/ecpix5_85f-simd": Family.ECP5}
_NEAR = 0.03
"""How far `SYSTEM`, which is an estimate before synthesis, may be off."""


def missed(results: Sequence[Result]) -> list[str]:
    """Return which bars are missed, in words; empty if none."""
    by_name = {result.name: result.contents for result in results}
    problems = []
    for check in _CHECKS:
        problems += list(_checked(check, by_name))
    return problems


def _checked(
    check: Callable[[Mapping[str, Any]], Iterator[str]], by_name: Mapping[str, Any]
) -> Iterator[str]:
    try:
        yield from check(by_name)
    except KeyError as error:
        yield f"{error.args[0]} must be measured"


def _counts(by_name: Mapping[str, Any]) -> Iterator[str]:
    limits = {**_AREA, **{name: by_name[name]["capacity"] for name in _FITTING}}
    for name, bars in limits.items():
        for resource, bar in bars.items():
            used = by_name[name]["resources"][resource]
            if used > bar:
                yield f"{name} must take {bar:,g} {resource} or fewer, not {used:,g}"


def _clocks(by_name: Mapping[str, Any]) -> Iterator[str]:
    for name, mhz in _CLOCKS.items():
        report = by_name[name]
        reached = report["timing"]["fmax_mhz"] if report["has_bitstream"] else 0
        if reached < mhz:
            yield f"{name} must reach {mhz} MHz, not {reached:g}"
        if report["build_seconds"] > _BUILD_SECONDS:
            seconds = report["build_seconds"]
            yield f"{name} must be built in {_BUILD_SECONDS} s, not {seconds}"


def _periods(by_name: Mapping[str, Any]) -> Iterator[str]:
    for name, bar in PERIODS.items():
        period = by_name[name]["period_ns"]
        if period > bar:
            worst = by_name[name]["paths"][0]
            yield (
                f"{name} must take {bar:g} ns or less, not {period:g} "
                f"({worst['start']['path']} to {worst['end']['path']})"
            )


def _utilization(by_name: Mapping[str, Any]) -> Iterator[str]:
    for run in by_name["bench/64-128"]:
        share = run["macs"] / run["cycles"] / 64
        bar = _UTILIZATION.get(run["model"], 0) if run["config"] == "64" else 0
        if share < bar:
            yield f"{run['model']} on 64 must use {bar:.0%} of its products, not {share:.1%}"


def _streams(by_name: Mapping[str, Any]) -> Iterator[str]:
    for run in by_name["bench/64-128"]:
        bar = _STREAM.get(run["model"]) if run["config"] == "64" else None
        if bar is None:
            continue
        if "period" not in run:
            yield f"the period of {run['model']} on 64 must be measured"
        elif run["period"] > bar * run["cycles"]:
            yield (
                f"a stream of {run['model']} on 64 must take {bar:g} times an inference or less, "
                f"not {run['period'] / run['cycles']:.3f}"
            )


def _peers(by_name: Mapping[str, Any]) -> Iterator[str]:
    for run in by_name["bench/gallery"]:
        name, cycles = f"{run['model']} on {run['config']}", run["cycles"]
        products = find_config(run["config"]).engine_macs
        bar = max(_PEER_SHARE * run["vela"]["cycles"], run["macs"] / products / _BUSY)
        if cycles > bar:
            yield f"{name} must take {bar:,.0f} cycles or fewer, not {cycles:,}"
        layers = run["layers"]
        total = sum(layer["cycles"] for layer in layers)
        of_cpu = sum(one["cycles"] for one in layers if one["where"] != Where.ENGINE.text)
        if of_cpu > _CPU_SHARE * total:
            yield f"{name} must leave {_CPU_SHARE:.0%} to the CPU or less, not {of_cpu / total:.1%}"


def _promises(by_name: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name} must be measured" for name in _PROMISED if name not in by_name)


def _system_estimates(by_name: Mapping[str, Any]) -> Iterator[str]:
    for name, family in {**_SYSTEMS, **_SMALLER_SYSTEMS}.items():
        for resource, estimate in SYSTEM[family].items():
            modules = by_name[name]["modules"].items()
            taken = sum(
                counts[resource] for module, counts in modules if not module.startswith("Cfu")
            )
            least, most = 0.0, estimate
            if name in _SYSTEMS:
                least, most = estimate * (1 - _NEAR), estimate * (1 + _NEAR)
            if not least <= taken <= most:
                yield (
                    f"{name} must take about {estimate:,g} {resource} beside the CFU "
                    f"(kiwicha.boards.capacity.SYSTEM), not {taken:,g}"
                )


_CHECKS = (
    *(_counts, _clocks, _periods, _utilization, _streams, _peers, _promises),
    _system_estimates,
)
