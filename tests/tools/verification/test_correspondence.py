"""Tests of which registers of a netlist are those of its source."""

from typing import Any

from tools.verification.correspondence import correspond
from tools.verification.nets import Nets
from tools.verification.twins import twins

Bits = list[int | str]


def cell(kind: str, output: Bits, **inputs: Bits) -> dict[str, Any]:
    name = "Q" if kind in {"$dff", "SRL16E", "FDRE"} else "Y"
    directions = {**dict.fromkeys(inputs, "input"), name: "output"}
    wires = {**inputs, name: output}
    return {"type": kind, "parameters": {}, "port_directions": directions, "connections": wires}


def module(names: dict[str, Bits], inputs: str, outputs: str, **cells: Any) -> dict[str, Any]:
    """Return a module whose registers, all of its words but inputs, start at 0."""
    ports = {
        name: {"direction": kind, "bits": list(names[name])}
        for kind, group in (("input", inputs), ("output", outputs))
        for name in group.split()
    }
    words = {
        name: {
            "hide_name": 0,
            "bits": list(bits),
            "attributes": {} if name in inputs.split() else {"init": "0" * len(bits)},
        }
        for name, bits in names.items()
    }
    return {"ports": ports, "netnames": words, "cells": cells}


def first_values(gold: dict[str, Any]) -> dict[int | str, str]:
    entry = gold["netnames"]["$first"]
    assert entry["hide_name"]
    return dict(zip(entry["bits"], entry["attributes"]["init"][::-1], strict=True))


def test_registers_that_keep_their_first_value_become_constants() -> None:
    gold = module(
        {"clk": [2], "s": [3], "kept": [4], "late": [5], "other": [6]},
        "clk s",
        "",
        # Itself or 0; the one before; and itself or 1.
        a=cell("$mux", [7], A=[4], B=["0"], S=[3]),
        b=cell("$dff", [4], D=[7]),
        c=cell("$dff", [5], D=[4]),
        d=cell("$mux", [8], A=[6], B=["1"], S=[3]),
        e=cell("$dff", [6], D=[8]),
    )
    mapped = module(
        {"clk": [2], "s": [3], "kept": ["0"], "late": ["x"], "other": ["1"]}, "clk s", ""
    )
    found = correspond(gold, mapped)
    assert found.held == [("kept", 0), ("late", 0)]
    assert not found.absent
    assert gold["cells"]["c"]["connections"]["D"] == ["0"]
    assert first_values(gold) == {6: "0"}


def test_a_register_that_the_netlist_has_is_no_constant() -> None:
    names: dict[str, Bits] = {"clk": [2], "kept": [4]}
    gold = module(names, "clk", "", b=cell("$dff", [4], D=[4]))
    found = correspond(gold, module(names, "clk", "", b=cell("FDRE", [4], D=[4])))
    assert not found.held
    assert gold["netnames"]["kept"]["bits"] == [4]


def test_registers_that_the_netlist_does_not_have_are_absent() -> None:
    gold = module(
        {"clk": [2], "a": [3], "r": [4, 5]}, "clk a", "", b=cell("$dff", [4, 5], D=[3, 4])
    )
    mapped = module({"clk": [2], "a": [3], "r": [4]}, "clk a", "", b=cell("FDRE", [4], D=[3]))
    assert correspond(gold, mapped).absent == [("r", 1)]


def test_registers_within_a_shift_register_are_found_from_the_last_one() -> None:
    gold = module(
        {"clk": [2], "a": [3], "en": [9], "first": [4], "second": [5], "third": [6]},
        "clk a en",
        "",
        a=cell("$mux", [7], A=[5], B=[4], S=[9]),
        b=cell("$dff", [4], D=[3]),
        c=cell("$dff", [5], D=[7]),
        d=cell("$dff", [6], D=[5]),
    )
    address = {"A0": ["1"], "A1": ["0"], "A2": ["0"], "A3": ["0"]}
    mapped = module(
        {"clk": [2], "a": [3], "en": [9], "third": [6], "first": [4]},
        "clk a en",
        "",
        b=cell("FDRE", [4], D=[3]),
        s=cell("SRL16E", [6], D=[4], **address),
    )
    found = correspond(gold, mapped)
    assert found.shifted == {("third", 0): ("s.r", 1), ("second", 0): ("s.r", 0)}
    assert not found.absent


def test_one_register_of_the_netlist_may_be_two_of_the_source() -> None:
    gold = module(
        {"clk": [2], "a": [3], "one": [4], "same": [5], "more": [6], "not": [7]},
        "clk a",
        "",
        b=cell("$dff", [4], D=[3]),
        c=cell("$dff", [5], D=[3]),
        d=cell("$dff", [6], D=[4]),
        e=cell("$dff", [7], D=[5]),
    )
    mapped = module(
        {"clk": [2], "a": [3], "one": [4], "more": [6]},
        "clk a",
        "",
        b=cell("FDRE", [4], D=[3]),
        d=cell("FDRE", [6], D=[4]),
    )
    assert correspond(gold, mapped).merged == {("same", 0): ("one", 0), ("not", 0): ("more", 0)}


def test_twins_start_alike_and_become_the_same() -> None:
    names: dict[str, Bits] = {"clk": [2], "a": [3], "p": [4], "q": [5], "r": [6], "s": [7]}
    gold = module(
        names,
        "clk a",
        "",
        w=cell("$xor", [8, 9], A=[4, 3], B=[3, 5]),
        x=cell("$xor", [10], A=[6], B=[3]),
        b=cell("$dff", [4], D=[8]),
        c=cell("$dff", [6], D=[10]),
        d=cell("$dff", [7], D=[10]),
        e=cell("$dff", [5], D=[10]),
    )
    assert twins(Nets(gold)) == [[4, 5, 6, 7]]
    # Two of them become what this one is not any more.
    gold["netnames"]["r"]["attributes"]["init"] = "1"
    assert twins(Nets(gold)) == [[4], [5, 7], [6]]
    gold["cells"] |= {"f": cell("$dff", [11], D=[4]), "g": cell("$dff", [12], D=[5])}
    gold["netnames"]["t"] = {"hide_name": 0, "bits": [11, 12], "attributes": {"init": "00"}}
    assert twins(Nets(gold)) == [[4], [5, 7], [6], [11], [12]]


def test_what_is_computed_from_a_register_is_not_taken_for_it() -> None:
    gold = module(
        {"clk": [2], "a": [3], "r": [4], "o": [5], "w": [5]},
        "clk a",
        "o",
        b=cell("$dff", [4], D=[3]),
        c=cell("$not", [5], A=[4]),
    )
    mapped = module(
        {"clk": [2], "a": [3], "r": [4], "o": [4], "w": [4]},
        "clk a",
        "o",
        b=cell("FDRE", [4], D=[3]),
    )
    correspond(gold, mapped)
    names = {name: entry["bits"] for name, entry in gold["netnames"].items()}
    assert names["r"] == [4]
    assert not set(names["w"]) & {2, 3, 4, 5}
    assert names["o"] == gold["ports"]["o"]["bits"] == [5]
