"""Arrival times of all nets of a design: the longest way from a clock to each."""

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple

from kiwicha.boards.timing.cell_timing import Arc, CellTiming
from kiwicha.boards.timing.cells import CLOCK_BUFFERS, timing_of
from kiwicha.boards.timing.netlist import Cell, Netlist, Pin
from kiwicha.boards.timing.wires import NET_PS, Wire, data_setup_ps, dedicated_ps, wire
from kiwicha.errors import ToolError

__all__ = ["PORT_PS", "Edge", "End", "Graph", "Start", "build_graph"]

PORT_PS = 456
"""When an input of the design arrives: as from a flip-flop outside, whose time this is."""
_OUTPUT_PS = 81
"""What the flip-flop behind an output of the design asks for."""

_Place = tuple[Cell, Pin]


class Edge(NamedTuple):
    """A way to a net through one cell, and the wire before it.

    Parameters
    ----------
    source : int
        The net, or a knot between the inputs and outputs of a cell, that it begins at.
    wire : Wire
        To the cell.
    cell : Cell or None
        None from a knot to an output.
    ps : int
        Through the cell.
    """

    source: int
    wire: Wire
    cell: Cell | None
    ps: int


class Start(NamedTuple):
    """Where a path begins: the clock of a cell, or a port if that is None."""

    ps: int
    cell: Cell | None


@dataclass(frozen=True, eq=False)
class End:
    """Where a path ends.

    Parameters
    ----------
    net : int
        That it arrives with.
    wire : Wire
        To the cell.
    cell : Cell or None
        None for a port of the design.
    pin : Pin
        Of the cell or of the design.
    setup_ps : int
        How long before the clock it must arrive.
    """

    net: int
    wire: Wire
    cell: Cell | None
    pin: Pin
    setup_ps: int


@dataclass(frozen=True)
class Graph:
    """The ways of a design, and when they arrive.

    Parameters
    ----------
    arrivals : mapping
        By net: the latest time after the clock, in picoseconds, at the output that drives it.
    worst : mapping
        By net: through what that was; a `Start` if the net is an output of a register.
    ends : tuple of End
        All of them.
    loads : mapping
        By net: how many inputs it leads to by wires that are routed.
    """

    arrivals: Mapping[int, int]
    worst: Mapping[int, Edge | Start]
    ends: tuple[End, ...]
    loads: Mapping[int, int]

    def delay_ps(self, end: End) -> int:
        """Return the delay of the worst path to an end."""
        return self.arrivals[end.net] + end.wire.route_ps + end.wire.logic_ps + end.setup_ps


def build_graph(netlist: Netlist, net_ps: int = NET_PS) -> Graph:
    """Return the graph of a netlist.

    Parameters
    ----------
    netlist : Netlist
        A design with one clock.
    net_ps : int
        What a wire with one load takes.

    Raises
    ------
    ToolError
        If there is a cell of unknown type, more than one clock, or a loop without a register.
    """
    return _Builder(netlist, net_ps).build()


class _Builder:
    """What is known of a design while its graph is built."""

    def __init__(self, netlist: Netlist, net_ps: int) -> None:
        self.netlist = netlist
        self.net_ps = net_ps
        self.timings = {cell: timing_of(cell) for cell in netlist.cells}
        self.drivers: dict[int, _Place] = {
            net: (cell, pin) for cell in netlist.cells for pin, net in cell.outputs.items()
        }
        self.edges: dict[int, list[Edge]] = {}
        self.starts: dict[int, Start] = {}
        self.ends: list[End] = []
        self.loads: dict[int, int] = {}
        self.stored: dict[int, int] = {}
        self._check_clock()
        self._count_loads()

    def build(self) -> Graph:
        for net in self.netlist.inputs.values():
            self.starts[net] = Start(PORT_PS, None)
        for cell, timing in self.timings.items():
            self._add(cell, timing)
        for pin, net in self.netlist.outputs.items():
            self._end(net, None, pin, _OUTPUT_PS)
        arrivals, worst = self._arrivals()
        ends = tuple(end for end in self.ends if end.net in arrivals)
        return Graph(arrivals, worst, ends, self.loads)

    def _check_clock(self) -> None:
        clocks = {
            self._clock(cell.inputs[pin])
            for cell, timing in self.timings.items()
            for pin in timing.clocks
            if pin in cell.inputs and cell.kind not in CLOCK_BUFFERS
        }
        if len(clocks) > 1:
            names = sorted(self._name(net) for net in clocks)
            raise ToolError(f"design must have one clock, not {', '.join(names)}")
        self.clocks = clocks

    def _clock(self, net: int) -> int:
        """Return the net that a clock comes from, before buffers."""
        while net in self.drivers and self.drivers[net][0].kind in CLOCK_BUFFERS:
            (net,) = self.drivers[net][0].inputs.values()
        return net

    def _name(self, net: int) -> str:
        signals = self.netlist.signals.get(net)
        return signals[0].path if signals else self.drivers[net][0].name

    def _count_loads(self) -> None:
        for cell, timing in self.timings.items():
            clocks = set(timing.clocks)
            for pin, net in cell.inputs.items():
                if pin in clocks:
                    continue
                driver = self.drivers.get(net)
                if dedicated_ps(driver, (cell, pin)) is None:
                    self.loads[net] = self.loads.get(net, 0) + 1
                if data_setup_ps(driver, (cell, pin)) is not None:
                    self.stored[net] = self.stored.get(net, 0) + 1
        for net in self.netlist.outputs.values():
            self.loads[net] = self.loads.get(net, 0) + 1

    def _wire(self, net: int, cell: Cell | None, pin: Pin) -> Wire:
        reader = None if cell is None else (cell, pin)
        loads = max(self.loads.get(net, 0), 1)
        return wire(self.drivers.get(net), reader, loads, self.net_ps)

    def _add(self, cell: Cell, timing: CellTiming) -> None:
        for launch in timing.launches:
            for pin in launch.pins:
                self.starts[cell.outputs[pin]] = Start(launch.ps, cell)
        for arc in timing.arcs:
            self._add_arc(cell, arc)
        for capture in timing.captures:
            for pin in capture.pins:
                self._end(cell.inputs[pin], cell, pin, capture.ps)

    def _add_arc(self, cell: Cell, arc: Arc) -> None:
        ways = [
            Edge(net := cell.inputs[pin], self._wire(net, cell, pin), cell, arc.ps)
            for pin in arc.inputs
        ]
        targets = [cell.outputs[pin] for pin in arc.outputs]
        if len(ways) > 1 and len(targets) > 1:
            # A knot between them; Yosys numbers nets from 0 up.
            knot = -1 - len(self.edges)
            self.edges[knot] = ways
            ways = [Edge(knot, Wire(0), None, 0)]
        for net in targets:
            self.edges.setdefault(net, []).extend(ways)

    def _end(self, net: int, cell: Cell | None, pin: Pin, setup_ps: int) -> None:
        way = self._wire(net, cell, pin)
        if cell is not None and self.stored.get(net) == 1:
            inside = data_setup_ps(self.drivers.get(net), (cell, pin))
            if inside is not None:
                way, setup_ps = Wire(0), inside
        self.ends.append(End(net, way, cell, pin, setup_ps))

    def _arrivals(self) -> tuple[dict[int, int], dict[int, Edge | Start]]:
        befores = {net: [edge.source for edge in edges] for net, edges in self.edges.items()}
        try:
            order = list(TopologicalSorter(befores).static_order())
        except CycleError as error:
            raise self._loop(error.args[1]) from error
        arrivals = {net: start.ps for net, start in self.starts.items()}
        worst: dict[int, Edge | Start] = dict(self.starts)
        for net in order:
            for edge in self.edges.get(net, ()):
                before = arrivals.get(edge.source)
                # What nothing drives is constant.
                if before is None:
                    continue
                time = before + edge.wire.route_ps + edge.wire.logic_ps + edge.ps
                if time > arrivals.get(net, -1):
                    arrivals[net], worst[net] = time, edge
        return arrivals, worst

    def _loop(self, nets: list[int]) -> ToolError:
        cells = dict.fromkeys(self.drivers[net][0].name for net in nets if net >= 0)
        return ToolError(
            f"loop must have a register, but these cells have none: {', '.join(cells)}"
        )
