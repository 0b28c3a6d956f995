"""What is proven of the memory of sums."""

from typing import Any

from amaranth import Cat, Module, Signal
from amaranth.hdl import Assert, Assume

from kiwicha.gateware.engine.array.sum_memory import SumMemory
from tests.support.gateware.proof import Rules, signals_of

__all__ = ["sum_memory"]

_AFTER_VALID = 2
"""How many cycles behind a beat there is no restart."""


def sum_memory(dut: SumMemory) -> Rules:
    """State that no beat is read in the cycle that writes it.

    Assumed: `SumMemory.restart` comes when it may.
    """
    own = signals_of(dut)

    def rules(m: Module, submodules: Any) -> None:
        memory = submodules.memory
        (read,), (write,) = memory.read_ports, memory.write_ports
        valid = Signal(_AFTER_VALID, name="was_valid")
        m.d.sync += valid.eq(Cat(dut.valid, valid))
        number, number_s1, number_s2 = (own[name] for name in ("number", "number_s1", "number_s2"))
        depth = dut.depth
        m.d.comb += [
            Assume(~(dut.restart & (dut.valid | valid.any()))),
            Assert(~(write.en & (write.addr == read.addr))),
            # What it follows from.
            Assert(valid == own["valid"]),
            Assert(~valid[0] | (number == (number_s1 + 1) % depth)),
            Assert(~valid[1] | (number_s1 == (number_s2 + 1) % depth)),
            Assert(~valid[1] | valid[0] | (number == number_s1)),
        ]

    return rules
