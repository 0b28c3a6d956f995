"""Views of waveforms: every signal exists, every code has its name."""

import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwicha.contract.configs import CONFIGS, ENGINE_CONFIGS, Config
from kiwicha.contract.engine import JobKind
from kiwicha.gateware import cfu
from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.sim.profile.wave_views import shown_signals, write_views
from kiwicha.sim.verilator.wave_names import without_dots, without_steps
from tests.support.choices import by_day

TOP = "TOP.soc.Cfu"
verilog = functools.cache(cfu.verilog)
"""Kept by configuration and vendor: name both, and each is made once."""


def declared(config: Config) -> Iterator[tuple[str, int]]:
    """Yield path and width of what the waveforms of the CFU hold; instances repeat modules."""
    yield from signals(without_dots(verilog(config, Vendor.GENERIC)))


def signals(text: str) -> Iterator[tuple[str, int]]:
    """Yield path and width of what Verilog declares."""
    module = TOP
    for line in text.splitlines():
        if found := re.match(r"module \\?([\w.]+)", line):
            module = "TOP.soc." + found[1]
        elif found := re.match(r" +(?:\w+ )*?(?:wire|reg) (?:\[(\d+):0\] )?\\?([\w.]+)", line):
            yield f"{module}.{found[2]}", int(found[1] or 0) + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "config", by_day(CONFIGS["simd"], ENGINE_CONFIGS["64"]), ids=["simd", "64"]
)
def test_every_signal_is_in_the_hardware(config: Config) -> None:
    there = set(declared(config))
    shown = shown_signals(config)
    assert [(item.path, item.bits) for item in shown if (item.path, item.bits) not in there] == []
    assert len({item.title for item in shown}) == len(shown)


@pytest.mark.slow
@pytest.mark.parametrize(
    "config", by_day(CONFIGS["simd"], ENGINE_CONFIGS["64"]), ids=["simd", "64"]
)
def test_only_scopes_end_at_dots(config: Config) -> None:
    text = verilog(config, Vendor.GENERIC)
    before, after = list(signals(text)), list(signals(without_dots(text)))
    # Each instance declares its own; none takes the name of another.
    assert len(before) == len(after)
    assert len(set(before)) == len(set(after))
    scopes = {f"TOP.soc.{name}" for name in re.findall(r"^module \\?([\w.]+)", text, re.MULTILINE)}
    assert {path.rpartition(".")[0] for path, _ in after} <= scopes
    assert {path.rpartition(".")[0] for path, _ in before} - scopes


def test_a_field_is_renamed_wherever_it_stands() -> None:
    text = """module \\a.b (x);
  wire [1:0] \\x.kind ;
  \\a.b  c (.x(\\x.kind ));
  assign \\x.kind  = x[1:0];
"""
    assert without_dots(text) == text.replace("x.kind", "x__kind")


def test_steps_within_expressions_are_left_out() -> None:
    text = """  wire [1:0] \\$12 ;
  wire \\job$14 ;
  assign \\$12  = \\$1  + \\job$14 ;
"""
    assert (
        without_steps(text)
        == """  wire [1:0] \\_$12 ;
  wire \\job$14 ;
  assign \\_$12  = \\_$1  + \\job$14 ;
"""
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "vendor", by_day(Vendor.GENERIC, Vendor.XILINX7, Vendor.ECP5), ids=lambda vendor: vendor.value
)
def test_every_signal_of_the_sources_has_a_name(vendor: Vendor) -> None:
    assert re.findall(r"\\\$signal\S*", verilog(ENGINE_CONFIGS["64"], vendor)) == []


def shown_as(text: str, path: str) -> tuple[str, str]:
    """Return the flags that a signal of a view has, and the line before it."""
    lines = text.splitlines()
    place = lines.index(path)
    flags = [line for line in lines[:place] if line.startswith("@")]
    return flags[-1], lines[place - 1]


def test_files_stand_beside_the_waveforms(tmp_path: Path) -> None:
    config = ENGINE_CONFIGS["64"]
    gtkwave, surfer = write_views(tmp_path / "w.fst", config)
    assert (gtkwave.name, surfer.name) == ("w.gtkw", "w.sucl")
    text = gtkwave.read_text()
    assert text.splitlines()[1] == f'[dumpfile] "{tmp_path / "w.fst"}"'
    for item in shown_signals(config):
        suffix = f"[{item.bits - 1}:0]" if item.bits > 1 else ""
        flags, before = shown_as(text, item.path + suffix)
        assert flags == ("@2022" if item.names else "@22")
        filtered = rf"\^\d+ {re.escape(str(tmp_path))}/w.names/{item.title}.txt"
        assert bool(re.fullmatch(filtered, before)) == bool(item.names)
        assert f"variable_add {item.path}\n" in surfer.read_text()
    kinds = (
        tmp_path / "w.names" / "cfu_engine_controller_sequencer_jobs__payload__kind.txt"
    ).read_text()
    assert f"{JobKind.DEPTHWISE:02x} DEPTHWISE\n" in kinds
    mapping = tmp_path / ".surfer" / "mappings" / "cfu_engine_controller_sequencer_fsm_state.txt"
    assert mapping.read_text().splitlines()[:3] == [
        "Name = cfu_engine_controller_sequencer_fsm_state",
        "Bits = 3",
        "0 STOPPED",
    ]


def test_surfer_finds_the_item_whose_format_is_set(tmp_path: Path) -> None:
    _, surfer = write_views(tmp_path / "w.fst", ENGINE_CONFIGS["64"])
    items: list[str] = []
    formats = {}
    focus = 0
    for line in surfer.read_text().splitlines():
        command, _, value = line.partition(" ")
        if command in {"variable_add", "divider_add"}:
            # A divider of several words is refused, and takes no place.
            assert command == "variable_add" or re.fullmatch(r"\w+", value)
            items.append(value)
        elif command == "item_focus":
            assert set(value) <= set("abcdefghijklmnop")
            focus = 0
            for letter in value:
                focus = 16 * focus + ord(letter) - ord("a")
        elif command == "item_set_format":
            formats[items[focus]] = value
    assert formats == {
        item.path: item.title for item in shown_signals(ENGINE_CONFIGS["64"]) if item.names
    }
