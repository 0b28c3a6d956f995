"""Models of the vendors' cells that are ours, beside plain memories and products."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from kiwicha.boards.family import Family
from kiwicha.errors import SimulationError
from tests.support.choices import at_night
from tests.support.gateware import bench, vendor_cells

BENCH = "tests.gateware.engine.array.bench_mac_cell.forms_are_equal"
TOP = "comparison"
CYCLES = 5000
ADDRESS_SHIFTS = {1: 0, 2: 1, 4: 2, 9: 3, 18: 4, 36: 5}
"""By the bits of a word."""
READS = {
    "READ_FIRST": "{0}[address]",
    "WRITE_FIRST": "write ? data : {0}[address]",
    "NO_CHANGE": "write ? {0}_a : {0}[address]",
    "READBEFOREWRITE": "{0}[address]",
    "WRITETHROUGH": "write ? data : {0}[address]",
    "NORMAL": "write ? {0}_a : {0}[address]",
}
"""What a port reads that may write, by the mode's name."""


def plain(name: str, width: int, mode: str) -> str:
    """Return a memory: its port A reads and writes, B reads."""
    return f"""
  reg [{width - 1}:0] {name} [0:15], {name}_a = 0, {name}_b = 0;
  reg {name}_is_met = 0;
  initial for (k = 0; k < 16; k = k + 1) {name}[k] = 0;
  always @(posedge clk) begin
    if (enable) {name}_a <= {READS[mode].format(name)};
    if (enable && write) {name}[address] <= data;
    if (enable_b) {name}_b <= {name}[address_b];
    if (enable_b) {name}_is_met <= {int(mode != "READ_FIRST")} && enable && write
      && address == address_b;
    if ({name}_a != {name}_cell_a || (!{name}_is_met && {name}_b != {name}_cell_b))
      is_different <= 1;
  end
"""


def bits(port: str, values: Iterable[str]) -> str:
    """Return the connections of ports of a bit each, the lowest first."""
    return ", ".join(f".{port}{k}({value})" for k, value in enumerate(values))


def xc7(name: str, width: int, mode: str, cell: str) -> str:
    """Return a block RAM of Xilinx with the outputs that the plain memory is compared with."""
    count, half, pins = max(width // 9, 1), *{"RAMB18E1": (16, 14), "RAMB36E1": (32, 16)}[cell]
    octets = [f"data[{9 * k + 7}:{9 * k}]" for k in reversed(range(count))]
    parities = [f"data[{9 * k + 8}]" for k in reversed(range(count))]

    def word(port: str) -> str:
        parts = (
            f"{name}_dop_{port}[{k}], {name}_do_{port}[{8 * k + 7}:{8 * k}]"
            for k in reversed(range(count))
        )
        return f"{{{', '.join(parts)}}}" if width >= 9 else f"{name}_do_{port}[{width - 1}:0]"

    return f"""
  wire [{half - 1}:0] {name}_do_a, {name}_do_b;
  wire [{half // 8 - 1}:0] {name}_dop_a, {name}_dop_b;
  {cell} #(.READ_WIDTH_A({width}), .WRITE_WIDTH_A({width}), .READ_WIDTH_B({width}),
    .WRITE_MODE_A("{mode}")) {name}_cell (
    .CLKARDCLK(clk), .CLKBWRCLK(clk), .ENARDEN(enable), .ENBWREN(enable_b),
    .ADDRARDADDR({pins}'d{1 << 12} | (address << {ADDRESS_SHIFTS[width]})),
    .ADDRBWRADDR({pins}'d{1 << 12} | (address_b << {ADDRESS_SHIFTS[width]})),
    .DIADI({{{", ".join(octets)}}}), .DIPADIP({{{", ".join(parities)}}}),
    .WEA({{{half // 8}{{write}}}}), .WEBWE(0), .RSTRAMARSTRAM(1'b0), .RSTRAMB(1'b0),
    .DOADO({name}_do_a), .DOPADOP({name}_dop_a), .DOBDO({name}_do_b), .DOPBDOP({name}_dop_b));
  wire [{width - 1}:0] {name}_cell_a = {word("a")};
  wire [{width - 1}:0] {name}_cell_b = {word("b")};
"""


def ecp5(name: str, width: int, mode: str) -> str:
    """Return a block RAM of ECP5, likewise; a wide one has data of both ports."""
    is_wide = width == 36
    enables = {18: 3, 36: 15}.get(width, 0)
    ports = ", ".join(
        bits(f"{kind}{port.upper()}", (text.format(k) for k in range(count)))
        for port, data in (("a", "data[{}]"), ("b", "upper[{}]"))
        for kind, count, text in (
            ("AD", 14, f"{name}_ad_{port}[{{}}]"),
            ("DI", 18, data),
            ("DO", 18, f"{name}_do_{port}[{{}}]"),
        )
    )
    outputs = (
        (f"{name}_a", f"{{{name}_do_b, {name}_do_a}}")
        if is_wide
        else (f"{name}_do_a", f"{name}_do_b")
    )
    return f"""
  wire [13:0] {name}_ad_a = (14'd1 << 12) | (address << {ADDRESS_SHIFTS[width]}) | {enables};
  wire [13:0] {name}_ad_b = (14'd1 << 12) | (address_b << {ADDRESS_SHIFTS[width]});
  wire [17:0] {name}_do_a, {name}_do_b;
  DP16KD #(.DATA_WIDTH_A({width}), .DATA_WIDTH_B({width}), .WRITEMODE_A("{mode}")) {name}_cell (
    .CLKA(clk), .CLKB(clk), .CEA(enable), .CEB(enable_b), .WEA(write), .WEB(1'b0),
    .RSTA(1'b0), .RSTB(1'b0), {ports});
  wire [{width - 1}:0] {name}_cell_a = {outputs[0]};
  wire [{width - 1}:0] {name}_cell_b = {outputs[1]};
"""


def product(name: str, stages: int, *, is_signed: bool) -> str:
    """Return a multiplier of ECP5 with some of its registers, and a product that comes as late."""
    registers = ("OUTPUT", "PIPELINE", "INPUTA", "INPUTB")[: (0, 1, 2, 4)[stages]]
    clocks = "".join(f'.REG_{register}_CLK("CLK0"), ' for register in registers)
    sign = "$signed" if is_signed else ""
    ports = ", ".join((
        bits("A", (f"data[{k}]" for k in range(18))),
        bits("B", (f"data[{k + 18}]" for k in range(18))),
        bits("P", (f"{name}_cell[{k}]" for k in range(36))),
    ))
    return f"""
  wire [35:0] {name}_cell;
  MULT18X18D #({clocks}.GSR("DISABLED")) {name}_block (.CLK0(clk), .CE0(enable), .RST0(1'b0),
    .SIGNEDA(1'b{int(is_signed)}), .SIGNEDB(1'b{int(is_signed)}), .SOURCEA(1'b0), .SOURCEB(1'b0),
    {ports});
  reg [35:0] {name} [0:3];
  initial for (k = 0; k < 4; k = k + 1) {name}[k] = 0;
  always @* {name}[0] = {sign}(data[17:0]) * {sign}(data[35:18]);
  always @(posedge clk) begin
    if (enable) for (k = 3; k > 0; k = k - 1) {name}[k] <= {name}[k - 1];
    if ({name}[{stages}] != {name}_cell) is_different <= 1;
  end
"""


def comparison(parts: Iterable[str], family: Family) -> str:
    """Return a design that compares cells on random inputs, as `BENCH` wants it."""
    body = "".join(parts)
    types = set(re.findall(r"^  ([A-Z]\w+) #", body, re.MULTILINE))
    return f"""
module {TOP}(input clk, input rst, output reg is_done, output reg is_active,
  output reg is_different);
  integer k, cycle = 0;
  reg [35:0] data = 0;
  reg [3:0] address = 0, address_b = 0;
  reg enable = 0, enable_b = 0, write = 0;
  wire [17:0] upper = data[35:18];
  initial {{is_done, is_active, is_different}} = 0;
  always @(posedge clk) begin
    cycle <= cycle + 1;
    is_done <= cycle >= {CYCLES};
    data <= {{$urandom, $urandom}};
    address <= $urandom;
    address_b <= $urandom;
    {{enable, enable_b, write}} <= $urandom;
    is_active <= is_active | (enable && enable_b && write && address == address_b);
  end
{body}
endmodule
{vendor_cells.cells(family, types)}
"""


def check(text: str, folder: Path) -> None:
    bench.run(bench.build(text, TOP), TOP, BENCH, {"cycles": CYCLES + 10}, folder)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.parametrize("width", [9, at_night(None)])
def test_block_ram_of_xilinx_is_a_memory(width: int | None, tmp_path: Path) -> None:
    """By night all widths."""
    widths = [width] if width else [*ADDRESS_SHIFTS]
    parts = []
    for cell, widest in (("RAMB18E1", 18), ("RAMB36E1", 36)):
        for size in (size for size in widths if size <= widest):
            for mode in ("READ_FIRST", "WRITE_FIRST", "NO_CHANGE"):
                name = f"{cell}_{size}_{mode}".lower()
                parts += [xc7(name, size, mode, cell), plain(name, size, mode)]
    check(comparison(parts, Family.XC7), tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.parametrize("width", [18, at_night(None)])
def test_block_ram_and_multiplier_of_ecp5_are_a_memory_and_products(
    width: int | None, tmp_path: Path
) -> None:
    """By night all widths."""
    widths = [width] if width else [*ADDRESS_SHIFTS]
    parts = []
    for size in widths:
        for mode in ("READBEFOREWRITE", "WRITETHROUGH", "NORMAL") if size < 36 else ("NORMAL",):
            name = f"memory_{size}_{mode}".lower()
            parts += [ecp5(name, size, mode), plain(name, size, mode)]
    parts += [
        product(f"product_{stages}_{int(is_signed)}", stages, is_signed=is_signed)
        for stages in range(4)
        for is_signed in (False, True)
    ]
    check(comparison(parts, Family.ECP5), tmp_path)


@pytest.mark.verilator
@pytest.mark.synth
def test_a_model_that_is_not_a_memory_is_seen(tmp_path: Path) -> None:
    """The plain memory does something else than the cell is told to."""
    text = comparison([ecp5("it", 9, "NORMAL"), plain("it", 9, "READBEFOREWRITE")], Family.ECP5)
    with pytest.raises(SimulationError, match="is_different"):
        check(text, tmp_path)


def test_a_cell_without_a_model_is_named() -> None:
    with pytest.raises(ValueError, match=r"^cell URAM288 must be one that has a model, for XC7$"):
        vendor_cells.cells(Family.XC7, ["FDRE", "URAM288"])
