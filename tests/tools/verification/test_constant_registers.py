"""Tests of which registers keep their first value."""

import itertools
from typing import Any

import pytest

from tools.verification.constant_registers import GATES, REGISTER, constant_registers
from tools.verification.nets import Bit, Nets

INPUT = 2
"""Of the module."""
P, Q, R, GATE = 3, 4, 5, 6


def constants(first: dict[Bit, str], *cells: tuple[str, Bit, dict[str, Bit]]) -> dict[Bit, str]:
    """Return registers of a module that keep their first value.

    Cells are given as their kind, the bit that comes out, and those that go in.
    """
    words = {f"word_{bit}": (bit, value) for bit, value in first.items()}
    module: dict[str, Any] = {
        "ports": {"a": {"direction": "input", "bits": [INPUT]}},
        "netnames": {
            name: {"hide_name": 0, "bits": [bit], "attributes": {"init": value}}
            for name, (bit, value) in words.items()
        },
        "cells": {
            f"cell_{number}": {
                "type": kind,
                "port_directions": dict.fromkeys(inputs, "input") | {_output(kind): "output"},
                "connections": {
                    name: [bit] for name, bit in (inputs | {_output(kind): out}).items()
                },
            }
            for number, (kind, out, inputs) in enumerate(cells)
        },
    }
    return constant_registers(Nets(module))


def _output(kind: str) -> str:
    return "Q" if kind == REGISTER else "Y"


def register(out: Bit, later: Bit) -> tuple[str, Bit, dict[str, Bit]]:
    return REGISTER, out, {"D": later}


def gate(kind: str, **inputs: Bit) -> tuple[str, Bit, dict[str, Bit]]:
    return f"$_{kind}_", GATE, inputs


def test_registers_that_become_what_they_are_keep_it() -> None:
    assert constants({P: "0", Q: "1"}, register(P, P), register(Q, "1")) == {P: "0", Q: "1"}
    assert constants({P: "0", Q: "1"}, register(P, "1"), register(Q, INPUT)) == {}
    assert constants({P: "0"}, register(P, "x")) == {}
    assert constants({P: "x"}, register(P, P)) == {}


def test_what_is_computed_from_constant_registers_may_be_constant() -> None:
    first = {P: "0", Q: "0", R: "1"}
    # Chosen by one that is constant.
    chosen = gate("MUX", A=Q, B=INPUT, S=P)
    assert constants(first, register(P, P), register(Q, GATE), chosen) == {P: "0", Q: "0"}
    assert constants(first, register(P, INPUT), register(Q, GATE), chosen) == {}
    # One of two that are the same.
    same = gate("MUX", A=R, B="1", S=INPUT)
    assert constants(first, register(R, GATE), same) == {R: "1"}
    assert constants(first, register(R, GATE), gate("MUX", A=R, B="0", S=INPUT)) == {}


def test_registers_may_keep_each_other() -> None:
    pair = register(P, Q), register(Q, P)
    assert constants({P: "0", Q: "0"}, *pair) == {P: "0", Q: "0"}
    assert constants({P: "0", Q: "1"}, *pair) == {}
    # One after the other does not keep its value.
    row = register(P, Q), register(Q, R), register(R, INPUT)
    assert constants({P: "0", Q: "0", R: "0"}, *row) == {}


@pytest.mark.parametrize("kind", GATES)
def test_gates_give_what_they_give_for_either_value_of_what_is_not_known(kind: str) -> None:
    operation = {
        "$_NOT_": lambda a: 1 - a,
        "$_AND_": lambda a, b: a & b,
        "$_OR_": lambda a, b: a | b,
        "$_XOR_": lambda a, b: a ^ b,
        "$_XNOR_": lambda a, b: 1 - (a ^ b),
        "$_MUX_": lambda a, b, s: b if s else a,
    }[kind]
    names, compute = GATES[kind]
    for number in range(3 ** len(names)):
        given = ["01x"[number // 3**place % 3] for place in range(len(names))]
        meant = [[[0], [1], [0, 1]]["01x".index(value)] for value in given]
        results = {operation(*values) for values in itertools.product(*meant)}
        found = compute(*given)
        assert found == "x" or {int(found)} == results
        assert found != "x" or len(results) == 2


def test_nothing_is_known_of_other_cells_and_of_loops() -> None:
    assert constants({P: "0"}, register(P, GATE), ("$anyseq", GATE, {})) == {}
    assert constants({P: "0"}, register(P, GATE), gate("AND", A=GATE, B=INPUT)) == {}
    assert constants({P: "0"}, register(P, GATE), gate("AND", A=GATE, B="0")) == {P: "0"}
