"""The worst paths of a design, those of one bus as one."""

import itertools
import re
from dataclasses import dataclass

from kiwicha.boards.timing.graph import Edge, End, Graph, Start
from kiwicha.boards.timing.names import Name, Names
from kiwicha.boards.timing.netlist import Cell
from kiwicha.boards.timing.wires import Wire, is_lut

__all__ = ["Path", "PathGroup", "Step", "groups", "trace"]

_NUMBER = re.compile(r"_\d+(?=\.|$)")
_BLOCKS = ("DSP48E1", "RAMB18E1", "RAMB36E1")


@dataclass(frozen=True)
class Step:
    """A wire, and the cell that it leads to.

    Parameters
    ----------
    net : int
        The wire's.
    wire : Wire
        What it takes.
    cell : Cell or None
        None for a port of the design.
    ps : int
        Through the cell; in the last step, its setup time.
    """

    net: int
    wire: Wire
    cell: Cell | None
    ps: int


@dataclass(frozen=True)
class Path:
    """The worst path to an end.

    Parameters
    ----------
    start : Start
        Where it begins.
    steps : tuple of Step
        The way, the end included.
    end : End
        Where it ends.
    """

    start: Start
    steps: tuple[Step, ...]
    end: End

    @property
    def logic_ps(self) -> int:
        """Time in cells, from clock to output at the start to setup at the end."""
        return self.start.ps + sum(step.ps + step.wire.logic_ps for step in self.steps)

    @property
    def route_ps(self) -> int:
        """Time in wires."""
        return sum(step.wire.route_ps for step in self.steps)

    @property
    def delay_ps(self) -> int:
        """All of it: the shortest period that the path allows."""
        return self.logic_ps + self.route_ps

    @property
    def luts(self) -> int:
        """Levels of logic: LUTs on the way."""
        return sum(step.cell is not None and is_lut(step.cell) for step in self.steps)

    @property
    def carries(self) -> int:
        """Carry cells on the way, of four bits each."""
        return sum(step.cell is not None and step.cell.kind == "CARRY4" for step in self.steps)

    @property
    def blocks(self) -> tuple[str, ...]:
        """Types of multipliers and block RAMs on it, its start and end included, in order."""
        cells = [self.start.cell, *(step.cell for step in self.steps)]
        return tuple(cell.kind for cell in cells if cell is not None and cell.kind in _BLOCKS)

    @property
    def widest(self) -> Step:
        """The step with the slowest wire."""
        return max(self.steps, key=lambda step: step.wire.route_ps)


@dataclass(frozen=True)
class PathGroup:
    """Paths from one register or memory to one other; ports count as registers.

    Registers and modules that differ by a number at the end of their name, such as ``cell_0`` and
    ``cell_1``, count as one.

    Parameters
    ----------
    start, end : Name
        From where to where the worst of them goes.
    port : str
        The port of the cells at the end; empty if that is a port of the design.
    path : Path
        The worst of them.
    ends : int
        How many bits they end at.
    """

    start: Name
    end: Name
    port: str
    path: Path
    ends: int


def trace(graph: Graph, end: End) -> Path:
    """Return the worst path to an end."""
    steps = [Step(end.net, end.wire, end.cell, end.setup_ps)]
    net = end.net
    while isinstance(before := graph.worst[net], Edge):
        net = before.source
        if before.cell is not None:
            steps.append(Step(net, before.wire, before.cell, before.ps))
            continue
        # A knot is behind the cell: the edge before it has all.
        inner = graph.worst[net]
        if not isinstance(inner, Edge):
            raise AssertionError("a knot has inputs")
        net = inner.source
        steps.append(Step(net, inner.wire, inner.cell, inner.ps))
    return Path(before, tuple(reversed(steps)), end)


def groups(graph: Graph, names: Names, count: int) -> list[PathGroup]:
    """Return the groups with the worst paths, the worst first.

    Every end counts for one group: that of its worst path.

    Parameters
    ----------
    graph : Graph
        Of a design.
    names : Names
        Of the same.
    count : int
        How many groups at most.
    """
    found: dict[tuple[str, str, str], tuple[Path, int]] = {}
    for end in sorted(graph.ends, key=graph.delay_ps, reverse=True):
        path = trace(graph, end)
        start, (target, port) = _start_name(path, names), _end_name(end, names)
        key = _NUMBER.sub("", start.path), _NUMBER.sub("", target.path), port
        worst, ends = found.get(key, (path, 0))
        found[key] = worst, ends + 1
    return [
        PathGroup(_start_name(path, names), *_end_name(path.end, names), path, ends)
        for path, ends in itertools.islice(found.values(), count)
    ]


def _start_name(path: Path, names: Names) -> Name:
    if path.start.cell is None:
        return names.net(path.steps[0].net)
    return names.cell(path.start.cell)


def _end_name(end: End, names: Names) -> tuple[Name, str]:
    if end.cell is None:
        return names.port(end.pin), ""
    return names.cell(end.cell), end.pin[0]
