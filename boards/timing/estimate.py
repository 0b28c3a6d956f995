"""The clock that a CFU is estimated to reach on Xilinx 7 series, and the paths that limit it."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.boards.family import Family
from kiwicha.boards.flow.stopwatch import seconds_of
from kiwicha.boards.flow.synthesis import NETLIST, VENDORS, synthesise_core
from kiwicha.boards.timing import places as places_module
from kiwicha.boards.timing.graph import Graph, build_graph
from kiwicha.boards.timing.names import Names
from kiwicha.boards.timing.netlist import Netlist, read_netlist
from kiwicha.boards.timing.paths import PathGroup, groups
from kiwicha.boards.timing.places import Place, source_places
from kiwicha.contract.configs import Config
from kiwicha.gateware.cfu import design, verilog
from kiwicha.sim.soc.sources import hardware_sources

__all__ = ["TOP", "Estimate", "estimate_cfu", "estimate_netlist"]

TOP = "Cfu"
_FAMILY = Family.XC7
_VENDOR = VENDORS[_FAMILY]
_PLACES = "places.json"
_WIDEST = 8
"""How many nets with most loads are kept."""


@dataclass(frozen=True)
class Estimate:
    """A static timing estimate.

    Parameters
    ----------
    period_ps : int
        Delay of the worst path.
    ends : int
        Where paths end: inputs of registers and memories, and outputs of the design.
    late : int
        How many of them have a path longer than the wanted period.
    wanted_ps : int
        That period.
    net_ps : int
        What a wire with one load takes.
    groups : tuple of PathGroup
        The worst paths, those of one bus as one.
    loads : mapping
        How many inputs the nets lead to that lead to most, by name.
    graph : Graph
        What it was read from.
    names : Names
        Of its cells and nets.
    """

    period_ps: int
    ends: int
    late: int
    wanted_ps: int
    net_ps: int
    groups: tuple[PathGroup, ...]
    loads: Mapping[str, int]
    graph: Graph
    names: Names

    @property
    def mhz(self) -> float:
        """The highest clock."""
        return 1e6 / self.period_ps

    @property
    def slack_ps(self) -> int:
        """What is left of the wanted period; negative if it is too short."""
        return self.wanted_ps - self.period_ps

    def to_json(self) -> dict[str, Any]:
        """Return the part of ``kiwicha timing --json`` that is estimated."""
        return {
            "clock_mhz": round(self.mhz, 2),
            "wanted_mhz": round(1e6 / self.wanted_ps, 2),
            "period_ns": _ns(self.period_ps),
            "slack_ns": _ns(self.slack_ps),
            "ends": self.ends,
            "late": self.late,
            "net_ns": _ns(self.net_ps),
            "paths": [self._path(group) for group in self.groups],
            "loads": dict(self.loads),
        }

    def _path(self, group: PathGroup) -> dict[str, Any]:
        path = group.path
        return {
            "start": dataclasses.asdict(group.start),
            "end": {**dataclasses.asdict(group.end), "port": group.port},
            "ends": group.ends,
            "delay_ns": _ns(path.delay_ps),
            "logic_ns": _ns(path.logic_ps),
            "route_ns": _ns(path.route_ps),
            "luts": path.luts,
            "carries": path.carries,
            "blocks": list(path.blocks),
            "steps": [
                {
                    "net": self.names.net(step.net).path,
                    "loads": self.graph.loads.get(step.net, 0),
                    "route_ns": _ns(step.wire.route_ps),
                    "cell": "port" if step.cell is None else step.cell.kind,
                    "logic_ns": _ns(step.wire.logic_ps + step.ps),
                }
                for step in path.steps
            ],
        }


def _ns(ps: int) -> float:
    return round(ps / 1000, 3)


def estimate_netlist(
    netlist: Netlist, places: Mapping[str, Place], *, wanted_ps: int, net_ps: int, paths: int
) -> Estimate:
    """Return the estimate of a netlist.

    Parameters
    ----------
    netlist : Netlist
        A design with one clock.
    places : mapping
        Where its signals are declared, by path.
    wanted_ps : int
        The period that it should have.
    net_ps : int
        What a wire with one load takes.
    paths : int
        How many groups of paths are kept.

    Raises
    ------
    ToolError
        If there is a cell of unknown type, more than one clock, or a loop without a register.
    """
    graph = build_graph(netlist, net_ps)
    names = Names(netlist, places)
    delays = [graph.delay_ps(end) for end in graph.ends]
    widest: dict[str, int] = {}
    for net, loads in sorted(graph.loads.items(), key=lambda item: -item[1])[:_WIDEST]:
        widest.setdefault(names.net(net).path, loads)
    return Estimate(
        period_ps=max(delays, default=0),
        ends=len(delays),
        late=sum(delay > wanted_ps for delay in delays),
        wanted_ps=wanted_ps,
        net_ps=net_ps,
        groups=tuple(groups(graph, names, paths)),
        loads=widest,
        graph=graph,
        names=names,
    )


def estimate_cfu(
    config: Config,
    *,
    wanted_ps: int,
    net_ps: int,
    paths: int,
    on_stage: Callable[[str], None] | None = None,
) -> tuple[Estimate, float]:
    """Return the estimate of a CFU alone, and the seconds that its synthesis took when it ran.

    Parameters
    ----------
    config : Config
        What it has.
    wanted_ps, net_ps, paths
        As for `estimate_netlist`.
    on_stage : callable or None
        Called with the name of each stage that takes time.

    Raises
    ------
    ToolError
        If Yosys is not installed or fails, or the netlist cannot be read.
    """
    say = on_stage or (lambda _: None)
    say(f"elaborating the CFU of {config.name}")
    text = verilog(config, _VENDOR)
    places = _places(config)
    folder = synthesise_core(
        text, TOP, _FAMILY, on_build=lambda: say("synthesising: some minutes with an engine")
    )
    say("adding up delays")
    netlist = read_netlist(json.loads((folder / NETLIST).read_text(encoding="utf-8")), TOP)
    found = estimate_netlist(netlist, places, wanted_ps=wanted_ps, net_ps=net_ps, paths=paths)
    return found, seconds_of(folder)


def _places(config: Config) -> dict[str, Place]:
    """Return the places of a CFU's signals, found at most once."""

    def builder(folder: Path) -> None:
        found = source_places(*design(config, _VENDOR), TOP)
        text = json.dumps({path: dataclasses.astuple(place) for path, place in found.items()})
        (folder / _PLACES).write_text(text, encoding="utf-8")

    key = cache.digest([
        *(config.name, _VENDOR.name),
        *cache.package_versions(("amaranth",)),
        *hardware_sources(),
        Path(places_module.__file__),
    ])
    text = (cache.build("places", key, builder) / _PLACES).read_text(encoding="utf-8")
    return {path: Place(*values) for path, values in json.loads(text).items()}
