"""MacCell: the vendors' forms equal the plain one for every pair of operands."""

import re
from pathlib import Path
from typing import Any

import pytest
from amaranth import Cat, Module, Mux, Signal
from amaranth.back import verilog

from kiwicha.gateware.engine.array.interfaces import OPERAND_BITS, PACKED_WEIGHT_BITS
from kiwicha.gateware.engine.array.mac_cell import AddTo, MacCell, Vendor
from tests.support.choices import by_day
from tests.support.gateware import bench, vendor_cells

BENCH = "tests.gateware.engine.array.bench_mac_cell.forms_are_equal"
TOP = "comparison"
SWEEPS = 2
SLACK_CYCLES = 16


def comparison(vendor: Vendor, *, has_packed: bool = False) -> str:
    """Return chains of two cells in the plain and in one vendor's form, on the same stimuli.

    The first cell sums every pair of 9-bit operands with ``shared`` as multiplicand, then the
    second one with ``own``. Meanwhile the other cell has random weights, enables and choices of
    multiplicand. What is added to is random throughout, and so are packed weights.
    """
    m = Module()
    is_done = Signal()
    is_active = Signal()
    is_different = Signal()
    count = Signal(2 * OPERAND_BITS + 2)
    noise = Signal(32, init=1)
    # x**32 + x**22 + x**2 + x + 1 is primitive.
    m.d.sync += noise.eq(Cat(noise[31] ^ noise[21] ^ noise[1] ^ noise[0], noise))
    m.d.comb += is_done.eq(count[-1])
    with m.If(~is_done):
        m.d.sync += count.eq(count + 1)
    sums = {}
    for form in (Vendor.GENERIC, vendor):
        cells = [MacCell(vendor=form, is_chained=bool(k), has_packed=has_packed) for k in range(2)]
        for k, cell in enumerate(cells):
            m.submodules[f"{form.value}_{k}"] = cell
            x, weight = count[:OPERAND_BITS], count[OPERAND_BITS : 2 * OPERAND_BITS]
            is_second_sweep = count[2 * OPERAND_BITS]
            is_free = is_second_sweep != k
            # Bits far apart: neighbours in the shift register repeat each other.
            add_to = Cat(noise[9 * k], noise[9 * k + 13])
            with m.If(add_to != 3):
                m.d.comb += cell.add_to.eq(add_to)
            m.d.comb += [
                cell.shared.eq(x),
                cell.own.eq(~x),
                cell.is_own.eq(is_second_sweep ^ (is_free & noise[:5].all())),
                cell.weight.eq(weight ^ Mux(is_free, noise[12:], 0)),
                cell.enable.eq(~is_free | noise[6 * k + 4] | noise[6 * k + 19]),
            ]
            if has_packed:
                packed = noise[7 * k + 10 :][:PACKED_WEIGHT_BITS]
                m.d.comb += [
                    # -128 does not fit.
                    cell.packed_weight.eq(
                        Mux(packed == 1 << (PACKED_WEIGHT_BITS - 1), 127, packed)
                    ),
                    cell.is_packed.eq(noise[11 * k + 2]),
                ]
        m.d.comb += cells[1].chain.eq(cells[0].cascade)
        sums[form] = Cat(cell.sum for cell in cells)
    with m.If(sums[Vendor.GENERIC] != sums[vendor]):
        m.d.sync += is_different.eq(1)
    # No single product is that large.
    with m.If(cells[1].sum[17] != cells[1].sum[-1]):
        m.d.sync += is_active.eq(1)
    ports = [is_done, is_active, is_different]
    return str(verilog.convert(m, name=TOP, ports=ports, emit_src=False))


@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.parametrize(
    "vendor", by_day(Vendor.XILINX7, Vendor.ECP5, Vendor.FABRIC), ids=lambda vendor: vendor.value
)
def test_vendor_form_equals_the_plain_one(vendor: Vendor, tmp_path: Path) -> None:
    text = comparison(vendor) + vendor_cells.model(vendor)
    cycles = SWEEPS * 4**OPERAND_BITS + SLACK_CYCLES
    bench.run(bench.build(text, TOP), TOP, BENCH, {"cycles": cycles}, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
def test_two_weights_in_a_dsp48e1_equal_the_plain_form(tmp_path: Path) -> None:
    text = comparison(Vendor.XILINX7, has_packed=True) + vendor_cells.model(Vendor.XILINX7)
    cycles = SWEEPS * 4**OPERAND_BITS + SLACK_CYCLES
    bench.run(bench.build(text, TOP), TOP, BENCH, {"cycles": cycles}, tmp_path)


@pytest.mark.parametrize("vendor", [Vendor.ECP5, Vendor.FABRIC])
def test_rejects_a_packed_weight_without_a_pre_adder(vendor: Vendor) -> None:
    message = f"has_packed must be False for {vendor}, not True"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MacCell(vendor=vendor, is_chained=False, has_packed=True)


def test_rejects_unknown_vendor() -> None:
    vendor: Any = "altera"
    vendors = "Vendor.GENERIC, Vendor.XILINX7, Vendor.ECP5, Vendor.FABRIC"
    message = f"vendor must be one of {vendors}, not 'altera'"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        MacCell(vendor=vendor, is_chained=False)


def test_values_of_add_to_are_those_of_the_z_multiplexer() -> None:
    assert (AddTo.ZERO.value, AddTo.CHAIN.value, AddTo.SELF.value) == (0b000, 0b001, 0b010)
