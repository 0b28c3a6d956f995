"""Hashes of designs: names and hierarchy do not count, everything else does."""

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from amaranth import Cat, Instance, Module, Signal
from amaranth.lib.memory import Memory

from kiwicha.gateware.netlist_hash import design_hash

USUAL: Mapping[str, Any] = {
    "name": "sum",
    "init": 3,
    "step": 1,
    "words": (1, 2),
    "cell": "DSP48E1",
    "port": "result",
    "subtracts": False,
}


def hash_of(is_flat: bool = False, is_reversed: bool = False, **changes: Any) -> str:
    """Return the hash of a register, a memory and a vendor's cell, in one module or in several."""
    v = {**USUAL, **changes}
    m = Module()
    address, result = Signal(1, name="address"), Signal(8, name=v["port"])
    # Without a reset, which would have the value, too.
    value = Signal(8, name=v["name"], init=v["init"], reset_less=True)
    increment = Signal(8, name=f"{v['name']}_in")
    counter = m
    if not is_flat:
        m.submodules[v["name"]] = counter = Module()
    difference = increment - value if v["subtracts"] else value - increment
    counter.d.sync += value.eq(difference + v["step"])
    memory = Memory(shape=8, depth=2, init=v["words"])
    read = memory.read_port(domain="comb")
    scaled = Signal(8, name=f"{v['name']}_scaled")
    cell = Instance(v["cell"], i_A=value, o_P=scaled)
    parts = [memory, cell]
    for number, part in enumerate(reversed(parts) if is_reversed else parts):
        m.submodules[f"{v['name']}_{number}"] = part
    m.d.comb += [read.addr.eq(address), increment.eq(read.data), result.eq(scaled)]
    return design_hash(m, [address, result])


def test_names_hierarchy_and_order_do_not_count() -> None:
    assert hash_of(name="total") == hash_of()
    assert hash_of(is_flat=True) == hash_of()
    assert hash_of(is_reversed=True, name="zero") == hash_of()


@pytest.mark.parametrize(
    "change",
    [
        {"init": 4},
        {"step": 2},
        {"words": (2, 1)},
        {"cell": "MULT18X18D"},
        {"port": "product"},
        {"subtracts": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_everything_else_counts(change: dict[str, Any]) -> None:
    assert hash_of(**change) != hash_of()


@pytest.mark.parametrize("is_crossed", [False, True])
def test_registers_are_told_apart_by_what_reaches_them_late(is_crossed: bool) -> None:
    """Two chains differ in their first register only; their last ones are taken crosswise."""
    m = Module()
    sides = []
    for init in (0, 1):
        stages = [Signal(name=f"stage_{k}", init=init if k == 0 else 0) for k in range(12)]
        m.d.sync += [after.eq(before) for before, after in itertools.pairwise(stages)]
        m.d.sync += stages[0].eq(stages[-1])
        sides.append(stages[-1])
    outputs = [Signal(name=name) for name in ("left", "right")]
    m.d.comb += [out.eq(side) for out, side in zip(outputs, sides, strict=True)]
    plain = design_hash(m, outputs)
    if is_crossed:
        sides.reverse()
    crossed = Module()
    crossed.submodules.m = m
    others = [Signal(name=name) for name in ("left", "right")]
    ends = outputs[::-1] if is_crossed else outputs
    crossed.d.comb += [out.eq(end) for out, end in zip(others, ends, strict=True)]
    assert (design_hash(crossed, others) == plain) is not is_crossed


def test_a_gate_that_reads_a_bit_of_itself_counts() -> None:
    def hash_with(is_and: bool) -> str:
        m = Module()
        first, other, out = Signal(name="first"), Signal(2, name="other"), Signal(2, name="out")
        chain = Cat(first, out[0])
        m.d.comb += out.eq(chain & other if is_and else chain | other)
        return design_hash(m, [first, other, out])

    assert hash_with(is_and=True) != hash_with(is_and=False)
