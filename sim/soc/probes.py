"""What a simulation is asked about in every cycle: signals of the engine and of the CPU's port.

`Bit` and `Count` define a sample; `verilog_lines` joins the signals in the
system's Verilog by their paths, and `header` tells the harness where the words are.
"""

import enum

__all__ = ["ENGINE_WORD", "PORT_WORD", "Bit", "Count", "header", "verilog_lines"]

ENGINE_WORD = "activity_engine"
"""64 bits: `Bit` from bit 0 on, each `Count` of 16 bits from bit 16 on."""
PORT_WORD = "activity_port"
"""2 bits: a 16-byte word read, written by the CPU."""
_FIRST_COUNT = 16
_COUNT_BITS = 16


class Bit(enum.IntEnum):
    """Bits of a sample."""

    RUNNING = 0
    """The engine executes a list."""
    STARTS_JOB = 1
    """A job begins."""
    BUSY = 2
    """An operation is issued."""
    WAITS_WEIGHTS = 3
    WAITS_REQUANTIZER = 4
    WAITS_TRANSFERS = 5
    READS_JOBS = 6
    """A word of job descriptors arrives from DRAM."""
    READS_TRANSFERS = 7
    """A word of transfer descriptors arrives."""
    READS_WEIGHTS = 8
    """A word of weights arrives."""
    READS_DATA = 9
    """A word of activations arrives."""
    WRITES_DATA = 10
    """A word of activations leaves."""


class Count(enum.IntEnum):
    """Counts of a sample."""

    JOBS_DONE = 0
    """Jobs of the list that are complete."""
    TRANSFERS_DONE = 1
    """Transfers of the list that are complete."""

    @property
    def shift(self) -> int:
        """Lowest bit in the sample."""
        return _FIRST_COUNT + _COUNT_BITS * self

    @property
    def mask(self) -> int:
        """Its bits, unshifted."""
        return (1 << _COUNT_BITS) - 1


_ENGINE = "Cfu.cfu.engine"
_SEQUENCER, _PORT = f"{_ENGINE}.controller.sequencer", f"{_ENGINE}.controller.port"
_BITS = {
    Bit.RUNNING: f"{_SEQUENCER}.lists__is_running",
    Bit.STARTS_JOB: f"{_SEQUENCER}.datapath_start",
    Bit.BUSY: f"{_ENGINE}.datapath.counts[0]",
    Bit.WAITS_WEIGHTS: f"{_ENGINE}.datapath.counts[1]",
    Bit.WAITS_REQUANTIZER: f"{_ENGINE}.datapath.counts[2]",
    Bit.WAITS_TRANSFERS: f"{_SEQUENCER}.waits_transfers",
    Bit.READS_JOBS: f"{_PORT}.readers__0__beats__valid",
    Bit.READS_TRANSFERS: f"{_PORT}.readers__1__beats__valid",
    Bit.READS_WEIGHTS: f"{_PORT}.readers__2__beats__valid",
    Bit.READS_DATA: f"{_PORT}.readers__3__beats__valid",
    Bit.WRITES_DATA: f"({_PORT}.port__wdata__valid & {_PORT}.port__wdata__ready)",
}
_COUNTS = {
    Count.JOBS_DONE: f"{_SEQUENCER}.jobs_done",
    Count.TRANSFERS_DONE: f"{_SEQUENCER}.transfers_done",
}


def verilog_lines(*, has_engine: bool) -> str:
    """Return the declaration of `ENGINE_WORD`, for the end of the system's module."""
    if not has_engine:
        return f"wire [63:0] {ENGINE_WORD} = 64'd0;\n"
    parts = [_COUNTS[count] for count in sorted(Count, reverse=True)]
    spare = 64 - _FIRST_COUNT - _COUNT_BITS * len(Count)
    unused = _FIRST_COUNT - len(Bit)
    words = [f"{spare}'d0", *parts, f"{unused}'d0", *(_BITS[b] for b in sorted(Bit, reverse=True))]
    return f"wire [63:0] {ENGINE_WORD} = {{\n    " + ",\n    ".join(words) + "\n};\n"


def header(top: str) -> str:
    """Return the C++ header with which the harness reads the words.

    Parameters
    ----------
    top : str
        Name of the top module.
    """
    return "\n".join([
        "// Generated: what the harness samples.",
        "#pragma once",
        "#include <cstdint>",
        '#include "Vsoc.h"',
        '#include "Vsoc___024root.h"',
        "",
        "inline uint64_t engine_word(const Vsoc___024root* rootp) {",
        f"    return rootp->{top}__DOT__{ENGINE_WORD};",
        "}",
        "",
        "inline uint32_t port_word(const Vsoc___024root* rootp) {",
        f"    return rootp->{top}__DOT__{PORT_WORD};",
        "}",
        "",
    ])
