"""Tests of variables for registers that are to be the same."""

from typing import Any

from tools.verification.constant_registers import REGISTER
from tools.verification.nets import Bit, Nets
from tools.verification.register_pairs import RegisterPairs

INPUT = 2


def side(registers: dict[Bit, tuple[str, Bit, str]], **words: Bit) -> tuple[Nets, dict[Bit, Bit]]:
    """Return a module, and its registers with what they become.

    Registers are given by their bit: their name, what they become, and their first value.
    """
    module: dict[str, Any] = {
        "ports": {"a": {"direction": "input", "bits": [INPUT]}},
        "netnames": {
            **{
                name: {"hide_name": 0, "bits": [bit], "attributes": {"init": first}}
                for bit, (name, _, first) in registers.items()
            },
            **{
                name: {"hide_name": 0, "bits": [bit], "attributes": {}}
                for name, bit in words.items()
            },
        },
        "cells": {
            name: {
                "type": REGISTER,
                "port_directions": {"D": "input", "Q": "output"},
                "connections": {"D": [later], "Q": [bit]},
            }
            for bit, (name, later, _) in registers.items()
        },
    }
    return Nets(module), {bit: later for bit, (_, later, _) in registers.items()}


def pairs(gold: tuple[Nets, dict[Bit, Bit]], gate: tuple[Nets, dict[Bit, Bit]]) -> RegisterPairs:
    return RegisterPairs(gold[0], gate[0], gold[1], gate[1])


def test_registers_of_one_name_are_one_variable() -> None:
    found = pairs(
        side({3: ("p", INPUT, "0"), 4: ("q", 3, "1")}),
        side({7: ("q", 8, "1"), 8: ("p", INPUT, "0")}),
    )
    assert found.variables == 2
    assert found.gold_values[3] == found.gate_values[8] != found.gold_values[4]
    assert found.gold_values[4] == found.gate_values[7]
    assert sorted(found.after) == [(INPUT, INPUT), (3, 8)]
    assert (found.starts, found.compared, found.constant, found.absent) == (True, 2, 0, 0)


def test_registers_that_are_one_in_the_netlist_are_one_variable() -> None:
    gold = side({3: ("p", INPUT, "0"), 4: ("q", 5, "0")})
    gate = side({7: ("p", 9, "0")}, q=7)
    found = pairs(gold, gate)
    assert found.gold_values == {3: 0, 4: 0}
    assert found.gate_values == {7: 0}
    assert found.after == [(INPUT, 9), (5, 9)]
    other = side({3: ("p", INPUT, "0"), 4: ("q", 5, "1")})
    assert not pairs(other, gate).starts


def test_registers_that_only_one_side_has_are_variables_of_their_own() -> None:
    found = pairs(side({3: ("p", INPUT, "0")}), side({7: ("q", 9, "0")}, p=INPUT))
    assert found.gold_values[3] != found.gate_values[7]
    assert found.variables == 2
    assert not found.after
    assert (found.compared, found.absent) == (0, 1)


def test_first_values_must_be_known_and_the_same() -> None:
    for one, other in (("0", "1"), ("x", "x"), ("x", "0")):
        found = pairs(side({3: ("p", INPUT, one)}), side({7: ("p", INPUT, other)}))
        assert not found.starts


def test_registers_that_keep_their_first_value_must_become_it() -> None:
    gold = side({3: ("p", 3, "1"), 4: ("q", INPUT, "0")})
    found = pairs(gold, side({8: ("q", 9, "0")}))
    assert (found.gold_values[3], found.constant, found.absent) == ("1", 1, 0)
    assert found.after == [(INPUT, 9), (3, "1")]
    # So must those of the netlist.
    found = pairs(gold, side({7: ("p", 9, "1")}))
    assert found.gold_values[3] == found.gate_values[7] == "1"
    assert found.after == [("1", 9), (3, "1")]
    assert not pairs(gold, side({7: ("p", 9, "0")})).starts
