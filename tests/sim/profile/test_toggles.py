"""Toggles of a tiny netlist, which are known."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kiwicha import tools
from kiwicha.sim.profile.energy import FIGURES, Event, Figure, energy_parts, with_figures
from kiwicha.sim.profile.primitives import Primitive, modules_of
from kiwicha.sim.profile.switching_activity import Instance, Net, read_activity
from kiwicha.sim.profile.toggles import Toggles, toggles_of
from kiwicha.sim.verilator.compiled_design import compile_design
from kiwicha.sim.verilator.toggle_simulator import TOGGLE_FLAGS
from tests.sim.profile.test_primitives import tiny_verilog

CYCLES = 21
MAIN = r"""
#include "VCfu.h"
#include "verilated.h"
#include "verilated_saif_c.h"

int main(int, char** argv) {
    VerilatedContext context;
    context.traceEverOn(true);
    VCfu top{&context};
    VerilatedSaifC file;
    top.trace(&file, 99);
    file.open(argv[1]);
    top.clk = 0;
    top.eval();
    const int first = 5, cycles = std::atoi(argv[2]);
    for (int cycle = 0; cycle < first + cycles; ++cycle) {
        top.clk = 1;
        top.eval();
        if (cycle >= first) file.dump(static_cast<uint64_t>(10000 * cycle));
        top.clk = 0;
        top.eval();
        if (cycle >= first) file.dump(static_cast<uint64_t>(10000 * cycle + 5000));
    }
    file.close();
}
"""


def changed(values: list[int]) -> int:
    """Give how many bits change from each value to the next."""
    return sum((one ^ other).bit_count() for one, other in pairwise(values))


@pytest.mark.nightly
@pytest.mark.verilator
def test_toggles_of_a_counter_and_its_square_are_counted(tmp_path: Path) -> None:
    text = tiny_verilog()
    (tmp_path / "cfu.v").write_text(text)
    (tmp_path / "main.cpp").write_text(MAIN)
    tools.verilator()
    compile_design(
        tmp_path,
        [tmp_path / "cfu.v", tmp_path / "main.cpp"],
        flags=[
            "--exe",
            "--cc",
            "--top-module",
            "Cfu",
            "--prefix",
            "VCfu",
            "--Mdir",
            ".",
            "-Wno-lint",
            *TOGGLE_FLAGS,
        ],
        includes=(),
        name="VCfu",
    )
    found = []
    for name, cycles in (("whole", CYCLES), ("first", 1)):
        path = tmp_path / name
        tools.run([str(tmp_path / "VCfu"), str(path), str(cycles)], name="the simulator")
        whole = read_activity(path.read_text().splitlines())
        found.append(whole.instances["TOP"].instances["Cfu"])
    toggles = toggles_of(modules_of(text), *found, cycles=CYCLES)
    # The first edge makes the counter 1; the counts begin behind the sixth.
    counts = [(6 + cycle) % 8 for cycle in range(CYCLES)]
    squares = [(count - 1) % 8 for count in counts]
    assert toggles.bits[Primitive.FLIP_FLOP] == 3 + 6
    assert toggles.toggles[Primitive.FLIP_FLOP] == changed(counts) + changed([
        count**2 for count in squares
    ])
    assert toggles.bits[Primitive.MULTIPLIER] == 6
    assert toggles.toggles[Primitive.MULTIPLIER] == changed([count**2 for count in counts])
    # It is read in each cycle, and written where the counter is odd.
    assert toggles.accessed_bits == 6 * CYCLES + 6 * sum(count % 2 for count in counts)


def test_what_the_first_cycle_counts_is_taken_off() -> None:
    text = """\
module Cfu(clk);
  reg [7:0] lines [3:0];
  \\Cfu.part  part (
  );
  always @(posedge clk)
    count <= \\$1 ;
  always @(posedge clk) begin
    if (\\en$2 [1])
      lines[address] <= data;
  end
  always @(posedge clk) begin
    read <= lines[address];
  end
endmodule
module \\Cfu.part (clk);
  assign \\$1  = a * b;
  assign \\$2  = a + b;
  assign c = b;
endmodule
"""
    part = {"$1": Net([0, 0], [9, 4]), "c": Net([0], [50])}
    first_part = {"$1": Net([0, 0], [1, 0]), "c": Net([0], [1])}
    whole = Instance(
        {"count": Net([0, 0], [7, 3]), "en$2": Net([0, 20_000], [0, 1]), "read": Net([0], [2])},
        {"part": Instance(part)},
    )
    first = Instance(
        {"count": Net([0, 0], [1, 0]), "en$2": Net([0, 5_000], [0, 1]), "read": Net([0], [0])},
        {"part": Instance(first_part)},
    )
    found = toggles_of(modules_of(text), whole, first, cycles=10)
    assert found.toggles == {
        Primitive.FLIP_FLOP: 7 + 3 - 1,
        Primitive.MULTIPLIER: 9 + 4 - 1,
        Primitive.MEMORY: 2,
        Primitive.LOGIC: 0,
    }
    assert found.bits == {
        Primitive.FLIP_FLOP: 2,
        Primitive.MULTIPLIER: 2,
        Primitive.MEMORY: 1,
        Primitive.LOGIC: 0,
    }
    assert found.accessed_bits == 8 * 2 + 8 * 10


TOGGLES = Toggles(
    cycles=100,
    bits=dict.fromkeys(Primitive, 10),
    toggles={
        Primitive.FLIP_FLOP: 50,
        Primitive.MULTIPLIER: 20,
        Primitive.MEMORY: 7,
        Primitive.LOGIC: 300,
    },
    accessed_bits=800,
)


def test_energy_is_the_sum_of_events_and_their_figures() -> None:
    given = [f"{event}={10**number}" for number, event in enumerate(Event)]
    parts = energy_parts(TOGGLES, with_figures(given))
    assert [part.event for part in parts] == list(Event)
    assert [part.count for part in parts] == [10 * 100, 50, 300, 20, 800]
    microjoules = [1000e-6, 500e-6, 30_000e-6, 20_000e-6, 8.0]
    np.testing.assert_allclose([part.microjoules for part in parts], microjoules)


def test_figures_are_scaled_by_size_and_the_square_of_the_supply() -> None:
    assert Figure(1.0, 56, 2.0, "").scaled == pytest.approx(0.5 * 0.25)
    assert Figure(1.0, 0, 1.0, "").scaled == 1
    assert set(FIGURES) == set(Event)
    assert all(figure.source for figure in FIGURES.values())
