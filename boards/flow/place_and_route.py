"""From a netlist to a bitstream for ECP5, with nextpnr."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.boards.flow import yowasp
from kiwicha.boards.flow.stopwatch import seconds_of, timed
from kiwicha.errors import BoardError

__all__ = [
    "BITSTREAM",
    "PACK",
    "PINS",
    "SEEDS",
    "Placed",
    "Step",
    "Timing",
    "arguments",
    "place_and_route",
    "place_until_met",
    "read_timing",
]

SEEDS = 4
"""How many seeds of the placer are tried at most, unless the user says otherwise."""

BITSTREAM = "soc.bit"
REPORT = "report.json"

_NETLIST = "netlist.json"
PINS = "pins.lpf"
"""Name of the constraints."""
_CONFIG = "soc.config"
PACK = ("--compress", _CONFIG, "--bit", BITSTREAM)
"""ecppack's arguments."""
_DEVICES = {
    **{f"LFE5U-{size}F": f"--{size}k" for size in (12, 25, 45, 85)},
    **{f"LFE5UM-{size}F": f"--um-{size}k" for size in (25, 45, 85)},
    **{f"LFE5UM5G-{size}F": f"--um5g-{size}k" for size in (25, 45, 85)},
}
_INPUT_PIN = "$TRELLIS_IO_IN"
# nextpnr rounds periods to picoseconds.
_CLOCK_TOLERANCE = 1e-3
_PACKAGES = {
    **{f"BG{balls}": f"CABGA{balls}" for balls in (256, 381, 554, 756)},
    "MG285": "CSFBGA285",
}


@dataclass(frozen=True)
class Step:
    """A part of a path: a cell, or the wire from one to the next.

    Parameters
    ----------
    kind : str
        ``clk-to-q``, ``logic``, ``routing`` or ``setup``.
    delay_ns : float
        What it adds.
    cell : str
        The cell, or the one that the wire goes to.
    """

    kind: str
    delay_ns: float
    cell: str


@dataclass(frozen=True)
class Timing:
    """The clock of a placed and routed design.

    Parameters
    ----------
    fmax_mhz : float
        Highest frequency at which every path is in time.
    target_mhz : float
        The frequency that was asked for.
    path : tuple of Step
        The slowest path.
    """

    fmax_mhz: float
    target_mhz: float
    path: tuple[Step, ...]

    @property
    def is_met(self) -> bool:
        """Whether the design is fast enough."""
        return self.fmax_mhz >= self.target_mhz


@dataclass(frozen=True)
class Placed:
    """A placed and routed design.

    Parameters
    ----------
    bitstream : Path
        The file for the FPGA.
    report : mapping
        nextpnr's report.
    """

    bitstream: Path
    report: Mapping[str, Any]


def _device(part: str, speed_grade: int | None) -> list[str]:
    match = re.fullmatch(r"(LFE5\w+-\d+F)-([678])([BM]G\d+)[CI]", part)
    if match is None or match[1] not in _DEVICES or match[3] not in _PACKAGES:
        raise BoardError(
            f"part must be one of {', '.join(_DEVICES)} in a known package, not {part}"
        )
    grade = match[2] if speed_grade is None else str(speed_grade)
    # Parts with 5 Gbit/s transceivers have grade 8 alone; the same die without is sold in others.
    name = match[1] if grade == "8" else match[1].replace("UM5G", "UM")
    return [_DEVICES[name], "--package", _PACKAGES[match[3]], "--speed", grade]


def arguments(part: str, speed_grade: int | None = None, seed: int = 1) -> list[str]:
    """Return nextpnr's arguments; ours are as for `place_and_route`.

    Raises
    ------
    BoardError
        If the part is not known.
    """
    return [
        *_device(part, speed_grade),
        *("--json", _NETLIST, "--lpf", PINS, "--textcfg", _CONFIG, "--seed", str(seed)),
        *("--report", REPORT, "--detailed-timing-report", "--quiet"),
        # With this placer the wires of the system with 64 are 0.6 times as long as with the usual
        # one. The other router spoils what it places: a net with many loads gets wires of 4 ns.
        *("--placer", "static", "--router", "router1"),
        # A design that is too slow is reported as such.
        "--timing-allow-fail",
    ]


def place_and_route(
    netlist: bytes,
    pins: bytes,
    *,
    part: str,
    speed_grade: int | None = None,
    seed: int = 1,
    on_build: Callable[[], None] | None = None,
) -> Placed:
    """Return the bitstream of a netlist, which is made at most once.

    Parameters
    ----------
    netlist : bytes
        JSON of Yosys, flat.
    pins : bytes
        Constraints, in Lattice's format.
    part : str
        The FPGA, as its vendor writes it.
    speed_grade : int or None
        Another than the part's: 6, 7 or 8.
    seed : int
        Start of the placer's random numbers.
    on_build : callable or None
        Called before nextpnr starts, and only if it does.

    Raises
    ------
    ToolError
        If nextpnr is not installed or fails.
    BoardError
        If the part is not known.
    """
    versions = yowasp.require(yowasp.NEXTPNR_ECP5)
    words = arguments(part, speed_grade, seed)
    key = cache.digest([*words, *PACK, *versions.values(), netlist, pins])

    def builder(folder: Path) -> None:
        (folder / _NETLIST).write_bytes(netlist)
        (folder / PINS).write_bytes(pins)
        with timed(folder):
            yowasp.nextpnr_ecp5(folder, words)
            yowasp.ecppack(folder, PACK)
        for name in (_NETLIST, _CONFIG):
            (folder / name).unlink()

    folder = cache.build("bitstream", key, builder, on_build=on_build)
    report = json.loads((folder / REPORT).read_text(encoding="utf-8"))
    return Placed(folder / BITSTREAM, report)


def place_until_met(
    netlist: bytes,
    pins: bytes,
    *,
    part: str,
    speed_grade: int | None,
    clock_hz: int,
    seeds: int,
    on_build: Callable[[str], None] | None = None,
) -> tuple[Timing, Placed, int, float]:
    """Place and route with one seed after the other until the clock is met.

    Parameters
    ----------
    netlist, pins, part, speed_grade
        As for `place_and_route`.
    clock_hz : int
        Frequency of the clock, see `read_timing`.
    seeds : int
        How many are tried at most, from 1 on.
    on_build : callable or None
        Called with the name of each stage that takes time.

    Returns
    -------
    tuple of Timing, Placed, int and float
        The fastest, with its seed; the seconds that all took.
    """

    def announce(seed: int) -> Callable[[], None] | None:
        stage = f"placing and routing with seed {seed}: many minutes"
        return None if on_build is None else lambda: on_build(stage)

    tried, seconds = [], 0.0
    for seed in range(1, seeds + 1):
        placed = place_and_route(
            netlist, pins, part=part, speed_grade=speed_grade, seed=seed, on_build=announce(seed)
        )
        timing = read_timing(placed.report, clock_hz)
        seconds += seconds_of(placed.bitstream.parent)
        tried.append((timing, placed, seed))
        if timing.is_met:
            break
    timing, placed, seed = max(tried, key=lambda result: result[0].fmax_mhz)
    return timing, placed, seed, seconds


def read_timing(report: Mapping[str, Any], clock_hz: int) -> Timing:
    """Return the timing of the system's clock from nextpnr's report.

    Parameters
    ----------
    report : mapping
        As in `Placed`.
    clock_hz : int
        Frequency of the clock that is meant. Those of input pins are not: nextpnr calls any net by
        the shortest of its names, and the frequency tells them apart.

    Raises
    ------
    BoardError
        If there is no such clock, or more than one.
    """
    names = [
        name
        for name, clock in report["fmax"].items()
        if abs(clock["constraint"] * 1e6 / clock_hz - 1) < _CLOCK_TOLERANCE
        and _INPUT_PIN not in name
    ]
    if len(names) != 1:
        found = ", ".join(names) or "none"
        raise BoardError(f"design must have one clock of {clock_hz / 1e6:g} MHz, not {found}")
    (name,) = names
    path: list[dict[str, Any]] = next(
        (
            path["path"]
            for path in report["critical_paths"]
            if name in path["from"] and name in path["to"]
        ),
        [],
    )
    steps = tuple(Step(step["type"], float(step["delay"]), step["to"]["cell"]) for step in path)
    fmax = report["fmax"][name]
    return Timing(float(fmax["achieved"]), float(fmax["constraint"]), steps)
