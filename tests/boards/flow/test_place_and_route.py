"""Place and route: a small design twice, and every night a board."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.board import load
from kiwicha.boards.family import Family
from kiwicha.boards.flow import place_and_route as place_and_route_module
from kiwicha.boards.flow.build import build_board
from kiwicha.boards.flow.place_and_route import (
    Placed,
    arguments,
    place_and_route,
    place_until_met,
    read_timing,
)
from kiwicha.boards.flow.synthesis import NETLIST, synthesise
from kiwicha.contract.configs import CONFIGS
from kiwicha.errors import BoardError

# A multiplier, a carry chain and registers, on pins.
DESIGN = b"""
    module small(input clock, input data, output reg answer);
      reg [15:0] a = 1, b = 3;
      reg [31:0] product;
      always @(posedge clock) begin
        a <= {a[14:0], data}; b <= b + a; product <= a * b; answer <= ^product;
      end
    endmodule
"""
PINS = b"""
    LOCATE COMP "clock" SITE "G2"; IOBUF PORT "clock" IO_TYPE=LVCMOS33;
    LOCATE COMP "data" SITE "D6"; IOBUF PORT "data" IO_TYPE=LVCMOS33;
    LOCATE COMP "answer" SITE "B2"; IOBUF PORT "answer" IO_TYPE=LVCMOS33;
    FREQUENCY PORT "clock" 25 MHz;
"""
PART = "LFE5U-25F-6BG381C"


def build() -> tuple[bytes, dict[str, Any], int]:
    """Give the bitstream, nextpnr's report, and how many tools ran."""
    ran: list[None] = []
    netlist = synthesise(
        {"small.v": DESIGN},
        top="small",
        family=Family.ECP5,
        keeps_netlist=True,
        on_build=lambda: ran.append(None),
    )
    placed = place_and_route(
        (netlist / NETLIST).read_bytes(), PINS, part=PART, on_build=lambda: ran.append(None)
    )
    return placed.bitstream.read_bytes(), dict(placed.report), len(ran)


@pytest.mark.nightly
@pytest.mark.synth
def test_equal_inputs_give_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "first"))
    bitstream, report, ran = build()
    # The name of the part stands in the bitstream.
    assert b"LFE5U-25F" in bitstream[:200]
    (clock,) = report["fmax"].values()
    assert clock["achieved"] > 25
    assert ran == 2
    # What was built is kept; without it, it is built again to the same bytes.
    assert build() == (bitstream, report, 0)
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "second"))
    assert build()[0] == bitstream


@pytest.mark.nightly
@pytest.mark.synth
@pytest.mark.timeout(7200)
def test_a_whole_board_gives_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    board = load("ulx3s_85f")
    made = []
    for name in ("first", "second"):
        monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / name))
        made.append(build_board(board, CONFIGS["simd"]))
    first, second = made
    assert first.bitstream is not None
    assert first.bitstream == second.bitstream
    assert first.inputs == second.inputs
    assert first.timing is not None
    assert first.timing.is_met


def path(name: str) -> dict[str, Any]:
    step = {"type": "logic", "delay": 1.5, "to": {"cell": "end"}}
    return {"from": f"posedge {name}", "to": f"posedge {name}", "path": [step]}


def clock(achieved: float, constraint: float) -> dict[str, float]:
    return {"achieved": achieved, "constraint": constraint}


REPORT = {
    "fmax": {
        "clk100$TRELLIS_IO_IN": clock(400, 60),
        "$glbnet$init": clock(300, 25),
        "$glbnet$cpu.clk": clock(61.5, 60.002),
    },
    "critical_paths": [path("$glbnet$init"), path("$glbnet$cpu.clk")],
}


def test_the_systems_clock_is_known_by_its_frequency() -> None:
    timing = read_timing(REPORT, 60_000_000)
    assert timing.fmax_mhz == 61.5
    assert timing.is_met
    assert [(step.kind, step.delay_ns, step.cell) for step in timing.path] == [
        ("logic", 1.5, "end")
    ]


def test_a_clock_that_is_too_slow_is_not_met() -> None:
    fmax = {"$glbnet$cpu.clk": clock(59.9, 60)}
    assert not read_timing({**REPORT, "fmax": fmax}, 60_000_000).is_met


def test_a_clock_that_is_not_there_is_reported() -> None:
    with pytest.raises(BoardError, match=r"^design must have one clock of 75 MHz, not none$"):
        read_timing(REPORT, 75_000_000)


@pytest.mark.parametrize(
    ("achieved", "seeds", "chosen", "ran"),
    [
        ([61, 70], 4, 1, 1),
        ([58, 59.5, 60.5, 80], 4, 3, 3),
        ([58, 59.5, 59], 3, 2, 3),
        ([58], 1, 1, 1),
    ],
)
def test_seeds_are_tried_until_the_clock_is_met(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    achieved: list[float],
    seeds: int,
    chosen: int,
    ran: int,
) -> None:
    tried = []

    def place(netlist: bytes, pins: bytes, *, seed: int, **options: Any) -> Placed:
        tried.append(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "seconds").write_text("100.0\n")
        fmax = {"$glbnet$cpu.clk": clock(achieved[seed - 1], 60)}
        return Placed(folder / "soc.bit", {**REPORT, "fmax": fmax})

    monkeypatch.setattr(place_and_route_module, "place_and_route", place)
    timing, placed, seed, seconds = place_until_met(
        b"", b"", part=PART, speed_grade=None, clock_hz=60_000_000, seeds=seeds
    )
    assert tried == list(range(1, ran + 1))
    assert (seed, placed.bitstream.parent.name) == (chosen, str(chosen))
    assert timing.fmax_mhz == achieved[chosen - 1]
    assert seconds == 100.0 * ran


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("LFE5UM5G-45F-8BG381C", ["--um5g-45k", "--package", "CABGA381", "--speed", "8"]),
        ("LFE5U-25F-7MG285I", ["--25k", "--package", "CSFBGA285", "--speed", "7"]),
    ],
)
def test_a_part_is_named_for_nextpnr(part: str, expected: list[str]) -> None:
    assert arguments(part)[:5] == expected


def test_another_grade_is_that_of_the_die_that_is_sold_in_it() -> None:
    assert arguments("LFE5UM5G-85F-8BG554I", 6)[:5] == ([
        "--um-85k",
        "--package",
        "CABGA554",
        "--speed",
        "6",
    ])
    assert arguments("LFE5UM5G-85F-8BG554I", 8)[0] == "--um5g-85k"
    assert arguments("LFE5U-25F-7MG285I", 6)[:5:4] == ["--25k", "6"]


@pytest.mark.parametrize("part", ["LFE5U-12F-6TN144C", "LFE5U-13F-6BG256C", "LFE5U-12F-5BG256C"])
def test_a_part_that_is_not_known_is_refused(part: str) -> None:
    with pytest.raises(BoardError, match=rf"^part must be one of .* not {part}$"):
        place_and_route(b"{}", b"", part=part)
