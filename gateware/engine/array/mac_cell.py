"""The multiplier cell of the array: one DSP block of each vendor, and a model of it."""

import enum

from amaranth import Cat, ClockSignal, Const, Instance, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import SUM_BITS
from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS, PACKED_WEIGHT_BITS

__all__ = [
    "PACKED_SHIFT",
    "PACKED_SUM_BITS",
    "SUM_BITS",
    "AddTo",
    "MacCell",
    "Vendor",
]

PACKED_SHIFT = 17
"""Place of the packed weight beside the other: a multiplier takes 25 bits."""
PACKED_SUM_BITS = 36
"""Eight products of 25 by 8 bits."""


class Vendor(enum.Enum):
    """Whose multipliers an array is made of."""

    GENERIC = "generic"
    """Plain Amaranth: the behaviour that the others must have."""
    XILINX7 = "xilinx7"
    """DSP48E1."""
    ECP5 = "ecp5"
    """MULT18X18D; operand choice, sum and chain are in the fabric."""
    FABRIC = "fabric"
    """LUTs, where a part has more of them left than multipliers."""


class AddTo(enum.Enum):
    """What the product is added to; other values are not used."""

    ZERO = 0
    CHAIN = 1
    """The sum of the cell before, as it was before this cycle."""
    SELF = 2
    """This cell's sum."""


class MacCell(wiring.Component):
    """One product per cycle, added to nothing, to the neighbour's sum or to its own.

    ``sum`` wraps at 25 bits: 128 products of any 9-bit numbers fit. With packed weights the product
    is ``(packed_weight * 2**17 + weight) * x``, and ``sum`` wraps at 36 bits.

    Latency: operands of cycle T, with ``add_to`` of cycle T + 2 and ``enable`` of cycle T + 3, show
    in ``sum`` in cycle T + 4.

    Parameters
    ----------
    vendor : Vendor
        What it is built from.
    is_chained : bool
        ``chain`` is connected to a neighbour's ``sum``; else it counts as 0. On Xilinx it must be
        that of the DSP48E1 below, through `cascade_in`.
    has_packed : bool
        There is a packed weight. Not on ECP5, whose multiplier takes 18 bits, nor in the fabric.

    Members
    -------
    shared : ``In(signed(9))``
        Multiplicand while ``is_own`` is 0.
    own : ``In(signed(9))``
        Multiplicand while ``is_own`` is 1.
    is_own : ``In(1)``
        Which of the two; with the operands.
    weight : ``In(signed(9))``
        Multiplier.
    packed_weight : ``In(signed(8))``
        Only with ``has_packed``: the second weight; not -128, which does not fit the pre-adder.
    is_packed : ``In(1)``
        Only with ``has_packed``: it counts; with the operands.
    add_to : ``In(AddTo)``
        Two cycles after the operands.
    enable : ``In(1)``
        Three cycles after the operands; without it ``sum`` stays.
    chain : ``In(48)``
        ``cascade`` of the neighbour.
    cascade : ``Out(48)``
        ``sum`` for a neighbour's ``chain``; upper bits are meaningless.
    sum : ``Out(signed(25))``
        The sum; signed(36) with ``has_packed``.

    Raises
    ------
    ValueError
        If ``vendor`` is not a `Vendor`, or cannot have a packed weight.

    Notes
    -----
    Ref: Xilinx UG479, 7 Series DSP48E1 Slice (OPMODE, INMODE, register counts); Lattice
    FPGA-TN-02205, ECP5 sysDSP Usage Guide (MULT18X18D).
    """

    LATENCY = 4
    ADD_TO_DELAY = 2
    ENABLE_DELAY = 3

    def __init__(self, *, vendor: Vendor, is_chained: bool, has_packed: bool = False) -> None:
        if not isinstance(vendor, Vendor):
            names = ", ".join(str(member) for member in Vendor)
            raise ValueError(f"vendor must be one of {names}, not {vendor!r}")
        if has_packed and vendor in {Vendor.ECP5, Vendor.FABRIC}:
            raise ValueError(f"has_packed must be False for {vendor}, not True")
        self.vendor = vendor
        self.is_chained = is_chained
        self.has_packed = has_packed
        self.sum_bits = PACKED_SUM_BITS if has_packed else SUM_BITS
        packed = (
            {"packed_weight": In(signed(PACKED_WEIGHT_BITS)), "is_packed": In(1)}
            if has_packed
            else {}
        )
        super().__init__({
            **packed,
            "shared": In(signed(OPERAND_BITS)),
            "own": In(signed(OPERAND_BITS)),
            "is_own": In(1),
            "weight": In(signed(OPERAND_BITS)),
            "add_to": In(AddTo),
            "enable": In(1),
            "chain": In(48),
            "cascade": Out(48),
            "sum": Out(signed(self.sum_bits)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the vendor's form."""
        m = Module()
        if self.vendor is Vendor.XILINX7:
            self._instantiate_dsp48e1(m)
            return m
        products = {Vendor.ECP5: self._mult18x18d, Vendor.FABRIC: self._fabric_product}
        product_s3 = products.get(self.vendor, self._product)(m)
        add_to_s3 = Signal(AddTo)
        addend = Signal(signed(self.sum_bits))
        m.d.sync += add_to_s3.eq(self.add_to)
        with m.Switch(add_to_s3):
            with m.Case(AddTo.CHAIN):
                m.d.comb += addend.eq(self.chain if self.is_chained else 0)
            with m.Case(AddTo.SELF):
                m.d.comb += addend.eq(self.sum)
        with m.If(self.enable):
            m.d.sync += self.sum.eq(product_s3 + addend)
        m.d.comb += self.cascade.eq(self.sum)
        return m

    def _product(self, m: Module) -> Signal:
        """Return the product, three registers after the operands."""
        operand_s1 = Signal(signed(OPERAND_BITS))
        operand_s2 = Signal(signed(OPERAND_BITS))
        weight = self._weight
        weight_s1 = Signal(weight.shape())
        weight_s2 = Signal(weight.shape())
        product_s3 = Signal(signed(OPERAND_BITS + len(weight)))
        m.d.sync += [
            operand_s1.eq(Mux(self.is_own, self.own, self.shared)),
            operand_s2.eq(operand_s1),
            weight_s1.eq(weight),
            weight_s2.eq(weight_s1),
            product_s3.eq(operand_s2 * weight_s2),
        ]
        return product_s3

    def _fabric_product(self, m: Module) -> Signal:
        """Return the same from sums of multiples, two bits of the weight at a time.

        Yosys takes a DSP block for any product that it is given.
        """
        operand_s1 = Signal(signed(OPERAND_BITS))
        triple_s1 = Signal(signed(OPERAND_BITS + 2))
        weight_s1 = Signal(OPERAND_BITS)
        low_s2 = Signal(signed(OPERAND_BITS + 4))
        high_s2 = Signal(signed(OPERAND_BITS + 4))
        signed_s2 = Signal(signed(OPERAND_BITS))
        product_s3 = Signal(signed(2 * OPERAND_BITS))
        operand = Signal(signed(OPERAND_BITS))
        m.d.comb += operand.eq(Mux(self.is_own, self.own, self.shared))

        def multiple(place: int) -> Value:
            """Return the multiple of two bits of the weight: a LUT of five inputs for each bit."""
            low, high = weight_s1[place], weight_s1[place + 1]
            return Mux(
                high,
                Mux(low, triple_s1, operand_s1 << 1),
                Mux(low, operand_s1, Const(0, signed(OPERAND_BITS))),
            )

        half = OPERAND_BITS // 2
        m.d.sync += [
            operand_s1.eq(operand),
            triple_s1.eq(operand + (operand << 1)),
            weight_s1.eq(self.weight),
            low_s2.eq(multiple(0) + (multiple(2) << 2)),
            high_s2.eq(multiple(half) + (multiple(half + 2) << 2)),
            # The uppermost bit of the weight counts negative.
            signed_s2.eq(Mux(weight_s1[-1], operand_s1, 0)),
            product_s3.eq(low_s2 + ((high_s2 - (signed_s2 << half)) << half)),
        ]
        return product_s3

    @property
    def _weight(self) -> Value:
        """Both weights as one number."""
        if not self.has_packed:
            return self.weight
        shifted = Cat(Const(0, PACKED_SHIFT), self.packed_weight).as_signed()
        return self.weight + Mux(self.is_packed, shifted, 0)

    def _instantiate_dsp48e1(self, m: Module) -> None:
        port_a = Signal(signed(30))
        port_d = Signal(signed(25))
        port_b = Signal(signed(18))
        total = Signal(48)
        add_to = Value.cast(self.add_to)
        m.d.comb += self.sum.eq(total)
        # Bit 1 of INMODE silences A, bit 2 lets D into the pre-adder.
        if self.has_packed:
            # The pre-adder joins the weights: the choice of multiplicand is left to the fabric.
            inmode = Cat(Const(0, 2), self.is_packed, Const(0, 2))
            m.d.comb += [
                port_a.eq(self.weight),
                port_d.eq(Cat(Const(0, PACKED_SHIFT), self.packed_weight)),
                port_b.eq(Mux(self.is_own, self.own, self.shared)),
            ]
        else:
            inmode = Cat(Const(0, 1), self.is_own, self.is_own, Const(0, 2))
            m.d.comb += [
                port_a.eq(self.shared),
                port_d.eq(self.own),
                port_b.eq(self.weight),
            ]
        # X and Y of OPMODE: the product. Z: the values of AddTo are those of zero, PCIN and P.
        opmode = Cat(Const(0b0101, 4), add_to[0] & self.is_chained, add_to[1], Const(0, 1))
        one, zero = Const(1, 1), Const(0, 1)
        enables = ("A1", "A2", "AD", "ALUMODE", "B1", "B2", "C", "CARRYIN", "CTRL", "D", "INMODE")
        resets = ("A", "ALLCARRYIN", "ALUMODE", "B", "C", "CTRL", "D", "INMODE", "M", "P")
        m.submodules.dsp = Instance(
            "DSP48E1",
            p_USE_DPORT="TRUE",
            p_AREG=1,
            p_ACASCREG=1,
            p_DREG=1,
            p_ADREG=1,
            p_BREG=2,
            p_BCASCREG=2,
            p_CREG=1,
            p_MREG=1,
            p_PREG=1,
            p_INMODEREG=1,
            p_OPMODEREG=1,
            p_ALUMODEREG=1,
            p_CARRYINREG=1,
            p_CARRYINSELREG=1,
            i_CLK=ClockSignal(),
            i_A=port_a,
            i_ACIN=Const(0, 30),
            i_D=port_d,
            i_B=port_b,
            i_BCIN=Const(0, 18),
            i_C=Const(0, 48),
            i_PCIN=self.chain if self.is_chained else Const(0, 48),
            i_CARRYCASCIN=zero,
            i_CARRYIN=zero,
            i_CARRYINSEL=Const(0, 3),
            i_MULTSIGNIN=zero,
            i_ALUMODE=Const(0, 4),
            i_INMODE=inmode,
            i_OPMODE=opmode,
            i_CEM=one,
            i_CEP=self.enable,
            o_P=total,
            o_PCOUT=self.cascade,
            **{f"i_CE{name}": one for name in enables},
            **{f"i_RST{name}": zero for name in resets},
        )

    def _mult18x18d(self, m: Module) -> Signal:
        """Return the product of a multiplier with all three of its register stages in use."""
        operand = Signal(signed(18))
        weight = Signal(signed(18))
        product_s3 = Signal(signed(36))
        m.d.comb += [
            operand.eq(Mux(self.is_own, self.own, self.shared)),
            weight.eq(self.weight),
        ]
        registers = {
            f"p_REG_{stage}_{kind}": value
            for stage in ("INPUTA", "INPUTB", "PIPELINE", "OUTPUT")
            for kind, value in (("CLK", "CLK0"), ("CE", "CE0"), ("RST", "RST0"))
        }
        m.submodules.multiplier = Instance(
            "MULT18X18D",
            p_REG_INPUTC_CLK="NONE",
            p_CAS_MATCH_REG="FALSE",
            p_MULT_BYPASS="DISABLED",
            p_RESETMODE="SYNC",
            p_GSR="DISABLED",
            i_CLK0=ClockSignal(),
            i_CE0=Const(1, 1),
            i_RST0=Const(0, 1),
            i_SIGNEDA=Const(1, 1),
            i_SIGNEDB=Const(1, 1),
            i_SOURCEA=Const(0, 1),
            i_SOURCEB=Const(0, 1),
            **registers,
            **{f"i_A{bit}": operand[bit] for bit in range(18)},
            **{f"i_B{bit}": weight[bit] for bit in range(18)},
            **{f"o_P{bit}": product_s3[bit] for bit in range(36)},
        )
        return product_s3
