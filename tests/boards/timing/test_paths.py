"""Paths of a bus are one row, and have the names of the source."""

from kiwicha.boards.timing.estimate import estimate_netlist
from kiwicha.boards.timing.places import Place
from tests.boards.timing.netlists import Design

PLACES = {
    "cfu.unit.start": Place("unit.py:1", is_register=True),
    "cfu.start": Place("cfu.py:2"),
    "cfu.unit.result": Place("unit.py:3", is_register=True),
    "cfu.memory": Place("cfu.py:4"),
}
FAST, SLOW = 1.677, 2.951


def bus() -> Design:
    """Return four registers that store what two others give, through one LUT and three."""
    design = Design()
    starts = [design.flip_flop(name=f"cfu.start_FDRE_Q_{n}") for n in range(2)]
    # The register is called after its own module, not after the one that it is an output of.
    design.signal("cfu.start", *starts)
    design.signal("cfu.unit.start", *starts)
    results = []
    for n in range(4):
        net = design.lut(starts[n % 2], 0)
        for _ in range(2 * (n == 3)):
            net = design.lut(net)
        results.append(design.flip_flop(net, name=f"cfu.unit.result_FDRE_Q_{n}"))
    design.signal("cfu.unit.result", *results)
    return design


def test_paths_between_two_signals_are_one_row() -> None:
    found = estimate_netlist(bus().netlist(), PLACES, wanted_ps=2000, net_ps=550, paths=5)
    (row,) = found.groups
    assert (row.start.path, row.start.source) == ("cfu.unit.start", "unit.py:1")
    assert (row.end.path, row.end.source, row.port) == ("cfu.unit.result", "unit.py:3", "D")
    assert row.ends == 4
    assert row.path.luts == 3
    # Clock to output, wires with two, one and one loads, LUTs, and setup behind a LUT.
    wires = 550 * (1 + 0.1 + 0.02 * (2**0.5 - 1)) + 2 * 550
    assert found.period_ps == row.path.delay_ps == round(456 + wires + 3 * 124 - 29)
    assert row.path.logic_ps == 456 + 3 * 124 - 29
    assert row.path.route_ps == round(wires)
    assert (found.ends, found.late) == (4, 1)
    assert found.slack_ps == 2000 - found.period_ps
    assert found.mhz == 1e6 / found.period_ps


def test_the_worst_rows_come_first_and_no_more_than_wanted() -> None:
    design = bus()
    slow = design.flip_flop(name="cfu.slow_FDRE_Q")
    for _ in range(5):
        slow = design.lut(slow)
    data = design.net()
    memory = {"WCLK": design.clock, "DIA": slow, "WE": 1, "DOA": data}
    design.cell("RAM32M", memory, name="cfu.memory.0.1")
    design.flip_flop(data, name="cfu.last_FDRE_Q_3")
    found = estimate_netlist(design.netlist(), PLACES, wanted_ps=1000, net_ps=550, paths=2)
    first, second = found.groups
    assert (first.start.path, first.end.path, first.port) == ("cfu.slow", "cfu.memory", "DIA")
    assert first.end.source == "cfu.py:4"
    assert second.end.path == "cfu.unit.result"
    assert found.period_ps == first.path.delay_ps > second.path.delay_ps
    every = estimate_netlist(design.netlist(), PLACES, wanted_ps=1000, net_ps=550, paths=99)
    assert ("cfu.memory", "cfu.last") in {(row.start.path, row.end.path) for row in every.groups}
    assert sum(row.ends for row in every.groups) == every.ends == 6


def test_the_slowest_wire_is_shown_with_its_loads() -> None:
    design = Design()
    wide = design.lut(design.flip_flop())
    design.signal("cfu.wide", wide)
    for n in range(40):
        design.flip_flop(design.lut(wide), name=f"cfu.r_FDRE_Q_{n}")
    found = estimate_netlist(design.netlist(), PLACES, wanted_ps=1000, net_ps=550, paths=1)
    step = found.groups[0].path.widest
    assert found.names.net(step.net).path == "cfu.wide"
    assert found.graph.loads[step.net] == found.loads["cfu.wide"] == 40
    report = found.to_json()
    assert report["loads"]["cfu.wide"] == 40
    (path,) = report["paths"]
    assert sum(step["route_ns"] for step in path["steps"]) == path["route_ns"]
    assert path["steps"][1]["net"] == "cfu.wide"
    assert path["delay_ns"] == report["period_ns"]


def test_numbered_parts_are_one_row() -> None:
    design = Design()
    start = design.flip_flop(name="start_FDRE_Q")
    for n in range(3):
        design.flip_flop(design.lut(start, 0), name=f"array.cell_{n}.sum_s{n}_FDRE_Q")
    found = estimate_netlist(design.netlist(), {}, wanted_ps=1000, net_ps=550, paths=9)
    # What follows a letter is no number: stages of a pipeline are not alike.
    names = [(row.end.path, row.ends) for row in found.groups]
    assert sorted(names) == [(f"array.cell_{n}.sum_s{n}", 1) for n in range(3)]
    for n in range(2):
        design.flip_flop(design.lut(start, 0), name=f"array.cell_{n}.total_FDRE_Q")
    found = estimate_netlist(design.netlist(), {}, wanted_ps=1000, net_ps=550, paths=9)
    assert ("array.cell_0.total", 2) in {(row.end.path, row.ends) for row in found.groups}


def test_logic_is_named_after_a_register_near_it() -> None:
    design = Design()
    net = design.net()
    design.cell("LUT1", {"I0": design.flip_flop(), "O": net}, name="cfu.result_FDRE_Q_D_LUT1_O_3")
    design.flip_flop(net)
    places = {"cfu": Place("cfu.py:7")}
    found = estimate_netlist(design.netlist(), places, wanted_ps=1000, net_ps=550, paths=1)
    name = found.names.net(net)
    assert (name.path, name.source) == ("logic at cfu.result", "cfu.py:7")


def test_a_design_without_paths_has_no_worst_one() -> None:
    found = estimate_netlist(Design().netlist(), {}, wanted_ps=1000, net_ps=550, paths=3)
    assert (found.period_ps, found.ends, found.groups) == (0, 0, ())
