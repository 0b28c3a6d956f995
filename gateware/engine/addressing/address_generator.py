"""Operations of jobs of every kind."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from kiwicha.contract.engine import INPUT_LANES, JobKind
from kiwicha.gateware.engine.addressing.convolution import ConvAddressGenerator
from kiwicha.gateware.engine.addressing.depthwise import DepthwiseAddressGenerator
from kiwicha.gateware.engine.addressing.elementwise import ElementwiseAddressGenerator
from kiwicha.gateware.engine.addressing.interfaces import AddressGeneratorSignature
from kiwicha.gateware.engine.descriptors import ADDRESS_BITS

__all__ = ["AddressGenerator"]


class AddressGenerator(wiring.Component):
    """The address generators of operations; each job has that of its kind.

    A MOVE, a SOFTMAX, a RECURRENT and a SHORT_ELEMENTS have no operations: their address is that
    of the reads of their unit.

    Parameters
    ----------
    beats : int
        Beats of the requantizer for those of the array: jobs count on a requantizer as wide as the
        array, so their ``interval`` is multiplied by it.
    has_softmax : bool
        There are SOFTMAX jobs.
    has_recurrent : bool
        There are RECURRENT jobs.
    has_elements : bool
        There are SHORT_ELEMENTS jobs.
    deep_lanes : int
    has_gathered : bool
        As of the `ConvAddressGenerator`.
    has_depthwise : bool
        There is a depthwise unit.

    Members
    -------
    unit_address : ``In(ADDRESS_BITS)``
        Address of a read of such a job.
    See `AddressGeneratorSignature` for the others.
    """

    def __init__(
        self,
        *,
        beats: int,
        has_softmax: bool = False,
        has_recurrent: bool = False,
        has_elements: bool = False,
        has_depthwise: bool = False,
        deep_lanes: int = INPUT_LANES,
        has_gathered: bool = False,
    ) -> None:
        self.beats = beats
        self.deep_lanes = deep_lanes
        self.has_gathered = has_gathered
        self.has_softmax = has_softmax
        self.has_recurrent = has_recurrent
        self.has_elements = has_elements
        self.has_depthwise = has_depthwise
        super().__init__({
            **AddressGeneratorSignature().flip().members,
            "unit_address": In(ADDRESS_BITS),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the generators and the choice of one."""
        m = Module()
        m.submodules.conv = conv = ConvAddressGenerator(
            has_depthwise=self.has_depthwise,
            deep_lanes=self.deep_lanes,
            has_gathered=self.has_gathered,
        )
        m.submodules.depthwise = depthwise = DepthwiseAddressGenerator()
        m.submodules.elementwise = elementwise = ElementwiseAddressGenerator()
        kind = self.job.kind
        generators: tuple[Any, ...] = (conv, depthwise, elementwise)
        chosen = (
            (kind == JobKind.CONV) | (kind == JobKind.MAX),
            kind == JobKind.DEPTHWISE,
            (kind == JobKind.ADD) | (kind == JobKind.TABLE) | (kind == JobKind.MUL),
        )
        for generator, is_chosen in zip(generators, chosen, strict=True):
            m.d.comb += [
                generator.job.eq(self.job),
                generator.job.interval.eq(self.job.interval * self.beats),
                generator.all_kernel_rows.eq(self.all_kernel_rows),
                generator.is_first_group.eq(self.is_first_group),
                generator.unit_rows_done.eq(self.unit_rows_done),
                generator.yields.eq(self.yields),
                generator.pauses.eq(self.pauses),
                generator.group_offset.eq(self.group_offset),
                generator.start.eq(self.start & is_chosen),
            ]
            with m.If(is_chosen):
                m.d.comb += [
                    self.operations.payload.eq(generator.operations.payload),
                    self.is_free.eq(generator.is_free),
                ]
        # A LUT of six inputs chooses one of four bits.
        _, is_depthwise, is_elementwise = chosen
        has_unit = kind == JobKind.MOVE
        if self.has_softmax:
            has_unit |= kind == JobKind.SOFTMAX
        if self.has_recurrent:
            has_unit |= kind == JobKind.RECURRENT
        if self.has_elements:
            has_unit |= kind == JobKind.SHORT_ELEMENTS
        choice = Signal(2)
        window, depthwise_address, element_address = (
            generator.operations.payload.address for generator in generators
        )
        m.d.comb += [
            choice.eq(Cat(is_depthwise | has_unit, is_elementwise | has_unit)),
            self.operations.payload.address.eq(
                Mux(
                    choice[1],
                    Mux(choice[0], self.unit_address, element_address),
                    Mux(choice[0], depthwise_address, window),
                )
            ),
            self.operations.valid.eq(Cat(g.operations.valid for g in generators).any()),
            self.done.eq(Cat(g.done for g in generators).any()),
            self.is_held.eq(Cat(g.is_held for g in generators).any()),
        ]
        return m
