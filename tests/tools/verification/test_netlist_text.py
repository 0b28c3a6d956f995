"""Tests of the names of bits in netlists."""

from tools.verification.netlist_text import renamed

NETLIST = """attribute \\top 1
module \\top
  attribute \\init 2'00
  attribute \\src "here"
  wire width 2 \\few
  wire width 3 \\word
  wire width 2 output 4 \\out
  wire \\out.s1
  wire width 16 $cell.r
  cell $dff \\out
    connect \\D \\out.s1
    connect \\Q \\out [0]
  end
  connect \\word 3'x
  connect { \\few [1] \\out [1] } { 1'x \\word [0] }
end
module \\other
  wire output 1 \\out
end
"""


def lines(**more: tuple[str, int]) -> list[str]:
    places = {(name, 1): there for name, there in more.items()}
    return renamed(NETLIST, widths={"few": 4, "word": 3, "row": 5}, more=places).split("\n")


def test_words_are_as_wide_as_in_the_source() -> None:
    found = lines()
    assert "  wire width 4 \\few" in found
    assert "  connect \\few [1] \\few.net [1]" in found
    assert "  connect \\few [2] \\few.net [2]" not in found
    assert "  wire width 3 \\word" in found
    # First values stay with the bits that are there.
    at = found.index("  attribute \\init 2'00")
    assert found[at + 2] == "  wire width 2 \\few.net"


def test_bits_without_a_value_are_not_connected() -> None:
    found = lines()
    assert not any("x" in line for line in found if line.startswith("  connect"))
    assert "  connect \\out.net [1] \\word [0]" in found


def test_outputs_come_out_of_cells_of_their_own() -> None:
    found = lines()
    assert "  wire width 2 \\out.net" in found
    assert "  wire width 2 output 4 \\out" in found
    assert "    connect \\Q \\out.net [0]" in found
    at = found.index("  cell $pos \\out.buffer")
    assert found[at + 4 : at + 6] == ["    connect \\A \\out.net", "    connect \\Y \\out"]
    assert "    connect \\D \\out.s1" in found
    assert found[-3:] == ["  wire output 1 \\out", "end", ""]


def test_bits_get_names_of_the_source() -> None:
    found = lines(row=("$cell.r", 7), few=("out", 0))
    assert "  wire width 5 \\row" in found
    assert "  connect \\row [1] $cell.r [7]" in found
    assert "  connect \\few [1] \\out.net [0]" in found
    # Yosys reads the declaration of a word before what is connected to it.
    assert found.index("  wire width 4 \\few") < found.index("  connect \\few [1] \\out.net [0]")
