"""The worst paths of components of an engine get no longer."""

import json
from typing import Any

import pytest
from amaranth import Signal, Value
from amaranth.back import verilog

from kiwicha.boards.family import Family
from kiwicha.boards.flow.synthesis import NETLIST, synthesise_core
from kiwicha.boards.timing.estimate import TOP, estimate_netlist
from kiwicha.boards.timing.netlist import read_netlist
from kiwicha.boards.timing.places import source_places
from kiwicha.gateware.engine.addressing.convolution import ConvAddressGenerator
from kiwicha.gateware.engine.addressing.depthwise import DepthwiseAddressGenerator
from kiwicha.gateware.engine.moves.address_generator import MoveAddressGenerator
from tests.support.choices import by_day


@pytest.mark.synth
@pytest.mark.parametrize(
    ("component", "most_ns"),
    by_day(
        (MoveAddressGenerator, 9.0), (ConvAddressGenerator, 10.4), (DepthwiseAddressGenerator, 10.4)
    ),
)
def test_no_path_of_a_component_gets_longer(component: type[Any], most_ns: float) -> None:
    design = component()
    members = [Value.cast(value) for _, _, value in design.signature.flatten(design)]
    ports = [member for member in members if isinstance(member, Signal)]
    text = str(verilog.convert(design, name=TOP, ports=ports, emit_src=False))
    folder = synthesise_core(text, TOP, Family.XC7)
    netlist = read_netlist(json.loads((folder / NETLIST).read_text(encoding="utf-8")), TOP)
    places = source_places(component(), [], TOP)
    found = estimate_netlist(netlist, places, wanted_ps=10_000, net_ps=550, paths=20)
    assert found.period_ps <= 1000 * most_ns
    # Its registers have their names and places.
    (worst, *_) = found.groups
    assert worst.start.source.startswith("gateware/")
    assert worst.end.source.startswith("gateware/")
    assert sum(group.ends for group in found.groups) <= found.ends
