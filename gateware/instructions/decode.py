"""Decode of custom instructions."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import INSTRUCTIONS, Group
from kiwicha.contract.engine import EngineCounter, EngineOp
from kiwicha.contract.signal import SIGNAL_INDEXES

__all__ = ["DECODED", "ENGINE_INDEXES", "PREEMPT_INDEXES", "Decoder"]

ENGINE_INDEXES = {
    EngineOp.RANGE: 2,
    EngineOp.START: 1,
    EngineOp.WAIT: 1,
    EngineOp.STATUS: 1,
    EngineOp.WATCHDOG: 1,
    EngineOp.COUNTER: len(EngineCounter),
    EngineOp.JOB_END: 1,
    EngineOp.PEEK: 2,
}
"""How many indexes each instruction of the engine has; they are one flag, ``engine``."""
PREEMPT_INDEXES = {EngineOp.START: 2, EngineOp.STATUS: 3}
"""The same of an engine that is preemptible, where they differ."""

DECODED = data.StructLayout({
    **dict.fromkeys(INSTRUCTIONS, 1),
    "engine": 1,
    "is_known": 1,
    "op": 3,
    "index": 4,
})
"""One flag per instruction; ``is_known`` if one of them is set; op and index."""


class Decoder(wiring.Component):
    """Split a function id into one flag per instruction.

    Combinational.

    Parameters
    ----------
    has_simd : bool
        Decode every instruction. Otherwise those that identify the gateware, the first three, are
        known and no others.
    has_engine : bool
        Decode the engine's instructions.
    is_preemptible : bool
        Decode those of an engine that is preemptible, too.
    has_signal : bool
        Decode those of the unit for frames of sound.

    Members
    -------
    function_id : ``In(10)``
        ``{op[2:0], index[3:0], group[2:0]}``.
    o : ``Out(DECODED)``
        What it means. An op that its group lacks, or an index that the op lacks, is not known.
    is_signal : ``Out(1)``
        It is an instruction of the unit for frames of sound; only with one.
    """

    def __init__(
        self,
        *,
        has_simd: bool,
        has_engine: bool = False,
        is_preemptible: bool = False,
        has_signal: bool = False,
    ) -> None:
        self.has_simd = has_simd
        self.has_engine = has_engine
        self.engine_indexes = ENGINE_INDEXES | (PREEMPT_INDEXES if is_preemptible else {})
        self.has_signal = has_signal
        signal = {"is_signal": Out(1)} if has_signal else {}
        super().__init__({"function_id": In(10), "o": Out(DECODED), **signal})

    def elaborate(self, platform: object) -> Module:
        """Build the comparisons."""
        m = Module()
        group, index, op = self.function_id[:3], self.function_id[3:7], self.function_id[7:]
        names = list(INSTRUCTIONS) if self.has_simd else ["isa_version", "config_hash", "cycles"]
        is_listed = {}
        for name in names:
            item = INSTRUCTIONS[name]
            is_listed[name] = (group == item.group) & (op == item.op) & (index < item.indexes)
            m.d.comb += self.o[name].eq(is_listed[name])
        if self.has_engine:
            is_listed["engine"] = Signal(name="is_engine")
            for its_op, count in self.engine_indexes.items():
                with m.If((group == Group.ENGINE) & (op == its_op) & (index < count)):
                    m.d.comb += is_listed["engine"].eq(1)
            m.d.comb += self.o.engine.eq(is_listed["engine"])
        if self.has_signal:
            is_listed["signal"] = self.is_signal
            for of_unit, count in SIGNAL_INDEXES.items():
                with m.If((group == Group.SIGNAL) & (op == of_unit) & (index < count)):
                    m.d.comb += self.is_signal.eq(1)
        m.d.comb += self.o.is_known.eq(Cat(is_listed.values()).any())
        m.d.comb += [self.o.op.eq(op), self.o.index.eq(index)]
        return m
