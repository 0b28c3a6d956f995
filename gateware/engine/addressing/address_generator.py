"""Operations of jobs of every kind."""

from typing import Any

from amaranth import Cat, Module
from amaranth.lib import wiring

from kiwicha.contract.engine import JobKind
from kiwicha.gateware.engine.addressing.convolution import ConvAddressGenerator
from kiwicha.gateware.engine.addressing.depthwise import DepthwiseAddressGenerator
from kiwicha.gateware.engine.addressing.elementwise import ElementwiseAddressGenerator
from kiwicha.gateware.engine.addressing.interfaces import AddressGeneratorSignature

__all__ = ["AddressGenerator"]


class AddressGenerator(wiring.Component):
    """The three address generators; each job has that of its kind.

    Parameters
    ----------
    beats : int
        Beats of the requantizer for those of the array: jobs count on a requantizer as wide as the
        array, so their ``interval`` is multiplied by it.

    Members
    -------
    See `AddressGeneratorSignature`.
    """

    def __init__(self, *, beats: int) -> None:
        self.beats = beats
        super().__init__(AddressGeneratorSignature().flip())

    def elaborate(self, platform: object) -> Module:
        """Build the generators and the choice of one."""
        m = Module()
        m.submodules.conv = conv = ConvAddressGenerator()
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
                generator.group_offset.eq(self.group_offset),
                generator.start.eq(self.start & is_chosen),
            ]
            with m.If(is_chosen):
                m.d.comb += [
                    self.operations.payload.eq(generator.operations.payload),
                    self.is_free.eq(generator.is_free),
                ]
        m.d.comb += [
            self.operations.valid.eq(Cat(g.operations.valid for g in generators).any()),
            self.done.eq(Cat(g.done for g in generators).any()),
            self.is_held.eq(Cat(g.is_held for g in generators).any()),
        ]
        return m
