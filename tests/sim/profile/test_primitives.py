"""What drives the nets of a netlist."""

import pytest
from amaranth.back import verilog
from amaranth.hdl import Elaboratable, Module, Signal, unsigned
from amaranth.lib.memory import Memory

from kiwicha.contract.configs import find_config
from kiwicha.sim.profile.primitives import Access, Primitive, modules_of
from kiwicha.sim.verilator.simulator import CFU, elaborated


class Tiny(Elaboratable):
    """A primitive of each kind: a counter, its square, and a memory of each kind."""

    def __init__(self) -> None:
        self.count = Signal(3)
        self.square = Signal(6)
        self.writes = Signal()
        self.stored = Signal(6)
        self.looked_up = Signal(5)

    def elaborate(self, platform: object) -> Module:
        """Give the module."""
        m = Module()
        m.d.sync += self.count.eq(self.count + 1)
        m.d.sync += self.square.eq(self.count * self.count)
        m.submodules.block = block = Memory(shape=unsigned(6), depth=8, init=[])
        write, read = block.write_port(), block.read_port(domain="sync")
        m.d.comb += [
            self.writes.eq(self.count[0]),
            write.en.eq(self.writes),
            write.addr.eq(self.count),
            write.data.eq(self.square),
            read.en.eq(1),
            read.addr.eq(self.count),
            self.stored.eq(read.data),
        ]
        numbers = [3, 1, 4, 1, 5, 9, 2, 6]
        m.submodules.table = table = Memory(shape=unsigned(5), depth=8, init=numbers)
        look = table.read_port(domain="comb")
        m.d.comb += [look.addr.eq(self.count), self.looked_up.eq(look.data)]
        return m


def tiny_verilog() -> str:
    """Give its Verilog, with the name that the CFU has."""
    tiny = Tiny()
    ports = [tiny.count, tiny.square, tiny.writes, tiny.stored, tiny.looked_up]
    return verilog.convert(tiny, name="Cfu", ports=ports)


def test_each_net_has_the_primitive_that_drives_it() -> None:
    top = modules_of(tiny_verilog())["Cfu"]
    assert top.drivers["count"] == top.drivers["square"] == Primitive.FLIP_FLOP
    kinds = list(top.drivers.values())
    assert kinds.count(Primitive.FLIP_FLOP) == 2
    assert kinds.count(Primitive.MULTIPLIER) == kinds.count(Primitive.MEMORY) == 1
    # Other names of nets have none.
    assert not {"writes", "stored", "looked_up"} & top.drivers.keys()
    assert top.instances == {}


def test_memories_are_block_ram_where_they_are_read_at_a_clock_edge() -> None:
    written, read = modules_of(tiny_verilog())["Cfu"].accesses
    assert (written.bits, read) == (6, Access("", 6))
    assert written.enable


def test_masked_writes_count_their_bits() -> None:
    text = """\
module Cfu(clk);
  reg [15:0] \\two bytes  [3:0];
  reg [15:0] lines [3:0];
  always @(posedge clk) begin
    if (en[1])
      lines[address[3:2]][15:8] <= data[15:8];
    if (\\all$1 )
      lines[address] <= data;
  end
  always @(posedge clk) begin
    if (\\w.en )
      read_data <= lines[address];
  end
  always @(posedge clk)
    \\both$2  <= { data, lines };
endmodule
"""
    module = modules_of(text)["Cfu"]
    assert module.accesses == [Access("en[1]", 8), Access("all$1", 16), Access("w.en", 16)]
    assert module.drivers == {"read_data": Primitive.MEMORY, "both$2": Primitive.FLIP_FLOP}


def test_products_by_constants_are_logic() -> None:
    text = """\
module Cfu(clk);
  assign \\$1  = $signed(a) * $signed({ 1'h0, b });
  assign \\$2  = a * 6'h20;
  assign \\$3  = 6'h20 * a;
  assign other = { a[3:0], 2'h1, \\$1 [4:2] };
  always @* begin
    \\$4  = a;
  end
endmodule
"""
    logic = dict.fromkeys(("$2", "$3", "$4"), Primitive.LOGIC)
    assert modules_of(text)["Cfu"].drivers == {"$1": Primitive.MULTIPLIER, **logic}


@pytest.mark.parametrize(
    ("config", "place", "products"), [("simd", ".instructions.mac", 4), ("64", ".array.", 64)]
)
def test_the_cfu_multiplies_as_often_as_its_configuration_says(
    config: str, place: str, products: int
) -> None:
    text = (elaborated(find_config(config)) / CFU).read_text(encoding="utf-8")
    modules = {name: module for name, module in modules_of(text).items() if place in name}
    kinds = [kind for module in modules.values() for kind in module.drivers.values()]
    assert kinds.count(Primitive.MULTIPLIER) == products
