"""Fills of the depthwise unit's memories: weights and parameters, group by group."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.depthwise import (
    PARAMETER_PLACES,
    PASS_BEATS,
    PASS_PLACES,
    UNIT_CHANNELS,
)
from kiwicha.gateware.delay import delayed
from kiwicha.gateware.engine.depthwise.interfaces import UnitFillSignature
from kiwicha.gateware.engine.weights.interfaces import FIELDS, PARAMETER_BLOCK

__all__ = ["UnitFills"]

_WRITE_CYCLES = 2
"""From a beat to its words."""
_READ_CYCLES = 12
"""From the last column of a group until its weights are read no more, and some."""


class UnitFills(wiring.Component):
    """Count what is written, what can be used, and the room that is left, in two rings.

    A fill begins when there is room for its passes and its parameters. Its beats are those of the
    parameters of 8 channels, then `PASS_BEATS` for each pass.

    Throughput: a beat per cycle. Latency: 4 cycles from the last beat to ``has_weights``.

    Members
    -------
    fill : ``In(UnitFillSignature())``
        What comes.
    write, write_place, write_pair : ``Out``
        To `TapWeights`, with the words of a beat.
    has_weights : ``Out(1)``
        A group is complete that was not taken.
    takes_weights : ``In(1)``
        It is taken.
    ends_group, group_passes : ``In``
        As of `RowPasses`: weights of a group are used for the last time.
    ends_results : ``In(1)``
        The parameters of a group are used for the last time.
    """

    def __init__(self) -> None:
        super().__init__({
            "fill": In(UnitFillSignature()),
            "write": Out(1),
            "write_place": Out(range(PASS_PLACES)),
            "write_pair": Out(range(PASS_BEATS)),
            "has_weights": Out(1),
            "takes_weights": In(1),
            "ends_group": In(1),
            "group_passes": In(range(PASS_PLACES + 1)),
            "ends_results": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the counts."""
        m = Module()
        fill, parameters = self.fill, self.fill.parameters
        passes_used, passes_left = Signal(range(PASS_PLACES + 1)), Signal(range(PASS_PLACES + 1))
        groups_used = Signal(range(PARAMETER_PLACES + 1))
        available = Signal(range(PARAMETER_PLACES + 1))
        is_open = Signal()
        has_parameters = Signal()
        begins, takes, ends, ends_pass = (
            Signal(name=name) for name in ("begins", "takes", "ends", "ends_pass")
        )
        pair = Signal(range(PASS_BEATS))
        place = Signal(range(PASS_PLACES))
        released = Mux(
            delayed(m, self.ends_group, _READ_CYCLES, "ends_group", is_reset=True),
            delayed(m, self.group_passes, _READ_CYCLES, "released"),
            0,
        )
        m.d.comb += [
            fill.is_idle.eq(~is_open),
            fill.ready.eq(
                ~is_open
                & (passes_used + fill.passes <= PASS_PLACES)
                & (groups_used != PARAMETER_PLACES)
            ),
            begins.eq(fill.command & fill.ready),
            fill.takes.eq(is_open),
            takes.eq(fill.beat & is_open),
            parameters.write.eq(takes & has_parameters),
            ends_pass.eq(takes & ~has_parameters & (pair == PASS_BEATS - 1)),
            ends.eq(ends_pass & (passes_left == 1)),
        ]
        m.d.sync += [
            passes_used.eq(passes_used + Mux(begins, fill.passes, 0) - released),
            groups_used.eq(groups_used + begins - self.ends_results),
        ]
        with m.If(begins):
            m.d.sync += [is_open.eq(1), has_parameters.eq(1), passes_left.eq(fill.passes)]
        with m.If(parameters.write):
            m.d.sync += parameters.field.eq(parameters.field + 1)
            with m.If(parameters.field == FIELDS - 1):
                m.d.sync += [parameters.field.eq(0), parameters.block.eq(parameters.block + 1)]
                with m.If(parameters.block == UNIT_CHANNELS // PARAMETER_BLOCK - 1):
                    m.d.sync += [parameters.block.eq(0), has_parameters.eq(0)]
                    m.d.sync += parameters.place.eq(
                        Mux(parameters.place == PARAMETER_PLACES - 1, 0, parameters.place + 1)
                    )
        with m.If(takes & ~has_parameters):
            m.d.sync += pair.eq(Mux(ends_pass, 0, pair + 1))
        with m.If(ends_pass):
            m.d.sync += [place.eq(place + 1), passes_left.eq(passes_left - 1)]
        with m.If(ends):
            m.d.sync += is_open.eq(0)
        is_word = takes & ~has_parameters
        m.d.comb += [
            self.write.eq(delayed(m, is_word, _WRITE_CYCLES, "is_word", is_reset=True)),
            self.write_place.eq(delayed(m, place, _WRITE_CYCLES, "place")),
            self.write_pair.eq(delayed(m, pair, _WRITE_CYCLES, "pair")),
            self.has_weights.eq(available.any()),
        ]
        arrives = delayed(m, ends, _WRITE_CYCLES + 1, "ends", is_reset=True)
        m.d.sync += available.eq(available + arrives - self.takes_weights)
        return m
