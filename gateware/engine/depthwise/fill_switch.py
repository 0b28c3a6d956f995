"""Fills of the array's weight buffer and of the depthwise unit, apart."""

from amaranth import Module, Mux, signed
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS
from kiwicha.gateware.engine.depthwise.interfaces import UnitFillSignature
from kiwicha.gateware.engine.weights.interfaces import FillSignature

__all__ = ["FillSwitch"]


class FillSwitch(wiring.Component):
    """The fills of a list, to the weight buffer or to the depthwise unit.

    Latency: none.

    Parameters
    ----------
    outputs : int
        As of the `FillSignature`.

    Members
    -------
    fill : ``In(FillSignature())``
        All of them.
    array : ``Out(FillSignature())``
        Those without ``is_unit``.
    unit : ``Out(UnitFillSignature())``
        Those with it.
    reduced : ``In(ArrayLayout(signed(9), 16))``
        The bytes of the beat two cycles ago, less the zero point.
    """

    def __init__(self, *, outputs: int) -> None:
        super().__init__({
            "fill": In(FillSignature(outputs=outputs)),
            "array": Out(FillSignature(outputs=outputs)),
            "unit": Out(UnitFillSignature()),
            "reduced": In(data.ArrayLayout(signed(OPERAND_BITS), BEAT_BYTES)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the choice."""
        m = Module()
        fill, array, unit = self.fill, self.array, self.unit
        is_unit = fill.is_unit
        m.d.comb += [
            array.commands.payload.eq(fill.commands.payload),
            array.commands.valid.eq(fill.commands.valid & ~is_unit),
            array.beats.payload.eq(fill.beats.payload),
            array.beats.valid.eq(fill.beats.valid & ~is_unit),
            array.parameters.eq(fill.parameters),
            array.zero_point.eq(fill.zero_point),
            array.is_unsigned.eq(fill.is_unsigned),
            array.is_table.eq(fill.is_table),
            array.is_packed.eq(fill.is_packed),
            unit.command.eq(fill.commands.valid & is_unit),
            unit.passes.eq(fill.commands.payload.words),
            unit.beat.eq(fill.beats.valid & is_unit),
            unit.words.as_value().eq(self.reduced),
            fill.commands.ready.eq(Mux(is_unit, unit.ready, array.commands.ready)),
            fill.beats.ready.eq(Mux(is_unit, unit.takes, array.beats.ready)),
            fill.is_idle.eq(Mux(is_unit, unit.is_idle, array.is_idle)),
        ]
        return m
