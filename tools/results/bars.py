"""Figures that committed results must reach; a release check asks for them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kiwicha.boards.capacity import SYSTEM
from kiwicha.boards.family import Family
from kiwicha.contract.configs import find_config
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.contract.program import Where
from tools.results.kinds import BENCH
from tools.results.result import Result

__all__ = ["CYCLES", "PERIODS", "fastest", "missed"]

Run = Mapping[str, Any]

_AREA: Mapping[str, Mapping[str, float]] = {
    "boards/arty_a7_35-64": {"LUT": 18_700, "BRAM36": 48, "DSP48E1": 90},
    "boards/arty_a7_100-256": {"LUT": 0.75 * 63_400, "BRAM36": 115, "DSP48E1": 220},
}
"""Resources that are enough."""
_FITTING = ("boards/arty_a7_100-128",)
_CLOCKS = {
    "boards/ecpix5_85f-64": 85,
    "boards/ecpix5_85f-64-6": 62,
    "boards/ecpix5_85f-simd": 90,
}
"""MHz that a bitstream reaches, in `_BUILD_SECONDS`."""
PERIODS = {"timing/64": 10.0, "timing/128": 10.0, "timing/256": 10.0, "timing/simd": 9.0}
"""Nanoseconds of the worst path as it is estimated: as the boards' clock wants it, or less."""
_BUILD_SECONDS = 75 * 60
CYCLES: Mapping[str, Mapping[int, int]] = {
    "person_detect": {64: 106_000, 128: 60_000, 256: 42_000},
    "vww": {64: 65_000, 128: 43_000, 256: 33_000},
    "kws": {64: 45_500, 128: 25_000, 256: 17_000},
    "resnet8": {64: 199_000, 128: 103_000, 256: 58_000},
    "ad": {64: 14_000, 128: 14_000, 256: 8_000},
    "mnv2": {64: 485_000, 128: 305_000, 256: 205_000},
    "mobilenet_v2": {64: 4_950_000, 128: 2_600_000, 256: 1_500_000},
    "resnet_large": {64: 1_140_000, 128: 610_000, 256: 340_000},
}
"""Cycles of an inference at most, by products per cycle, on the best configuration with so many."""
_ANSWERED: Mapping[str, float] = {
    "person_detect on 64": 108_500,
    "mobilenet_v2 on 64": 5_118_000,
    "mobilenet_v2 on 128": 2_657_000,
    "mobilenet_v2 on 256": 1_595_000,
    "resnet_large on 128": 638_000,
}
"""Bars that measurement shows to be out of reach, and what is enough instead: the best that there
is. docs/performance.md says why."""
_UTILIZATION = {"resnet8": 0.85, "person_detect": 0.77}
"""Share of the products of ``64`` that models use."""
_PEER_SHARE = 0.75
"""Share of Vela's estimate for as many multipliers that models of the gallery take at most."""
_BUSY = 0.95
"""Share of the products of an engine that is enough, whatever Vela estimates: for networks of
convolutions alone, its estimate is little more than what the multipliers take."""
_STREAM = {"person_detect": 1.02}
"""Cycles from one inference of a stream to the next on ``64``, as a multiple of an inference's."""
_BESIDE = "beside/person_detect"
_ASLEEP = 0.9
"""Share of the cycles of inferences that the CPU has for itself, at least."""
_INTERRUPT_SHARE = 1.01
"""Cycles of inferences with the interrupt, at most, as a multiple of those without."""
_STARTS = 1000
"""Random requests of an urgent model, at least."""
_CPU_SHARE = 0.04
"""Share of their cycles that the CPU takes at most; of models with a long SOFTMAX where the engine
has jobs for it."""
_PROMISED = (
    *("boards/arty_a7_35-128-56k", "boards/ecpix5_85f-32", "boards/ecpix5_85f-64-6"),
    *(
        "boards/ulx3s_85f-simd",
        "bench/softmax",
        "area/simd",
        "area/64",
        "area/128",
        "bringup/arty_a7_35",
        "bringup/ulx3s_85f",
    ),
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
    for name in (*_AREA, *_FITTING):
        if name not in by_name:
            yield f"{name} must be measured"
            continue
        bars = _AREA.get(name) or by_name[name]["capacity"]
        for resource, bar in bars.items():
            used = by_name[name]["resources"][resource]
            if used > bar:
                yield f"{name} must take {bar:,g} {resource} or fewer, not {used:,g}"


def _clocks(by_name: Mapping[str, Any]) -> Iterator[str]:
    for name, bar in _CLOCKS.items():
        report, mhz = by_name[name], _ANSWERED.get(name, bar)
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


def _cycles(by_name: Mapping[str, Any]) -> Iterator[str]:
    found = fastest(by_name[name] for name in by_name if name.startswith(f"{BENCH.folder}/"))
    for model, bars in CYCLES.items():
        for macs, bar in bars.items():
            most, run = _ANSWERED.get(f"{model} on {macs}", bar), found.get((model, macs))
            if run is None:
                yield f"{model} on {macs} must be measured"
            elif run["cycles"] > most:
                cycles = run["cycles"]
                yield f"{model} on {macs} must take {most:,} cycles or fewer, not {cycles:,}"


def fastest(files: Iterable[Sequence[Run]]) -> dict[tuple[str, int], Run]:
    """Return the fastest run of each model with each number of products, on the usual memory.

    Parameters
    ----------
    files : iterable of sequence of dict
        Contents of the files of benches.
    """
    best: dict[tuple[str, int], Run] = {}
    for runs in files:
        for run in runs:
            if run.get("memory", DDR3_QUARTER_RATE.name) == DDR3_QUARTER_RATE.name:
                key = run["model"], find_config(run["config"]).engine_macs
                best[key] = min(best.get(key, run), run, key=lambda one: int(one["cycles"]))
    return best


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
    with_jobs = by_name.get("bench/softmax", [])
    shares = {(run["model"], find_config(run["config"]).engine_macs): run for run in with_jobs}
    for run in (*by_name["bench/gallery"], *with_jobs):
        name, cycles = f"{run['model']} on {run['config']}", run["cycles"]
        products = find_config(run["config"]).engine_macs
        bar = max(_PEER_SHARE * run["vela"]["cycles"], run["macs"] / products / _BUSY)
        if cycles > bar:
            yield f"{name} must take {bar:,.0f} cycles or fewer, not {cycles:,}"
        layers = shares.get((run["model"], products), run)["layers"]
        total = sum(layer["cycles"] for layer in layers)
        of_cpu = sum(one["cycles"] for one in layers if one["where"] != Where.ENGINE.text)
        if of_cpu > _CPU_SHARE * total:
            yield f"{name} must leave {_CPU_SHARE:.0%} to the CPU or less, not {of_cpu / total:.1%}"


def _beside(by_name: Mapping[str, Any]) -> Iterator[str]:
    report = by_name[_BESIDE]
    asleep, starts = report["asleep"], report["requests"]["random"]
    share = report["period"]["sleep"] / report["period"]["invoke"]
    longest, bound = max(report["longest_wait"].values()), report["bound"]
    if asleep < _ASLEEP:
        yield f"the CPU must sleep for {_ASLEEP:.0%} of {_BESIDE}, not {asleep:.1%}"
    if share > _INTERRUPT_SHARE:
        most = _INTERRUPT_SHARE
        yield f"the interrupt must take {most:g} times the cycles or less, not {share:.3f}"
    if starts < _STARTS:
        yield f"{_BESIDE} must have {_STARTS:,} requests at random times, not {starts:,}"
    if longest > bound:
        yield f"an urgent model must wait for {bound:,} cycles or fewer, not {longest:,}"


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
    *(_counts, _clocks, _periods, _cycles, _utilization, _streams, _peers, _promises),
    _system_estimates,
    _beside,
)
