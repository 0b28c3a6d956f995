"""Two dot products out of the sum of packed products."""

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.array.mac_cell import (
    PACKED_SHIFT,
    PACKED_SUM_BITS,
    SUM_BITS,
    MacCell,
)

__all__ = ["PackedSum"]


class PackedSum(wiring.Component):
    """Split the sum at the end of a chain of `MacCell` with packed weights.

    Combinational from ``total`` to the sums; ``x`` and ``packed_weights`` come with the operands of
    their lane, lane l one cycle after lane l - 1.

    Parameters
    ----------
    lanes : int
        Cells of the chain, at most 8.

    Members
    -------
    x, packed_weights : ``In(lanes)``
        For each lane the lowest bit of the input and of the packed weight.
    total : ``In(signed(36))``
        Sum of the chain's last cell.
    is_packed : ``In(1)``
        There are two sums in it.
    first_sum : ``Out(signed(25))``
        The first sum, or the only one.
    second_sum : ``Out(signed(20))``
        The second sum; else meaningless.

    Notes
    -----
    The total is ``2**17 S + F``, and F needs one bit more than the 17 below S. That bit is its
    sign, which has changed the lowest bit of what is above it from that of S: and the lowest bit of
    S is the parity of the products, an XOR along the lanes.
    """

    def __init__(self, *, lanes: int) -> None:
        self.lanes = lanes
        super().__init__({
            "x": In(lanes),
            "packed_weights": In(lanes),
            "total": In(signed(PACKED_SUM_BITS)),
            "is_packed": In(1),
            "first_sum": Out(signed(SUM_BITS)),
            "second_sum": Out(signed(PACKED_SUM_BITS - PACKED_SHIFT + 1)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the parity, as late as the sum, and what is taken back from the second one."""
        m = Module()
        parity: Value = Const(0)
        for lane in range(self.lanes):
            following = Signal(name=f"parity_{lane}", reset_less=True)
            m.d.sync += following.eq(parity ^ (self.x[lane] & self.packed_weights[lane]))
            parity = following
        for stage in range(1, MacCell.LATENCY):
            following = Signal(name=f"parity_s{stage}", reset_less=True)
            m.d.sync += following.eq(parity)
            parity = following
        is_negative = Signal()
        upper = Signal(SUM_BITS - PACKED_SHIFT)
        m.d.comb += [
            is_negative.eq(self.total[PACKED_SHIFT] ^ parity),
            upper.eq(
                Mux(
                    self.is_packed,
                    is_negative.replicate(len(upper)),
                    self.total[PACKED_SHIFT:SUM_BITS],
                )
            ),
            self.first_sum.eq(Cat(self.total[:PACKED_SHIFT], upper)),
            self.second_sum.eq(self.total[PACKED_SHIFT:].as_signed() + is_negative),
        ]
        return m
