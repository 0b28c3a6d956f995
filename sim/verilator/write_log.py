"""The log of what a simulated engine writes, and when: to its scratchpad and to DRAM."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kiwicha import cache
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import DEEP_MACS, LINE_BYTES

__all__ = ["LOG_FILE", "WRITTEN_SIGNALS", "WriteKind", "WriteLog", "logging_system"]

LOG_FILE = "engine_writes"
"""Where the simulated system writes it, in the folder in which it runs."""

_SCRATCHPAD = "Cfu.cfu.engine.datapath.scratchpad"
_PORT = "Cfu.cfu.engine.controller.port"
_SYSTEM = "soc.v"
_CLOCK = "sys_clk"

WRITTEN_SIGNALS = {
    _SCRATCHPAD: ("line_address", "line_write", "line_mask", "line_write__data"),
    _PORT: (
        *("port__cmd__valid", "port__cmd__ready", "port__cmd__payload"),
        *("port__wdata__valid", "port__wdata__ready", "port__wdata__payload"),
    ),
}
"""What is logged, by the path of its module."""


class WriteKind(enum.IntEnum):
    """What a record tells of."""

    LINE = 1
    """A line of the scratchpad, and with its upper mask the next one, changes."""
    COMMAND = 2
    """DRAM takes the address of a word that is to be written."""
    WORD = 3
    """It takes such a word; words come in the order of their commands."""


_RECORD = np.dtype([
    ("data", "u1", (LINE_BYTES,)),
    ("mask", "<u2"),
    ("next_mask", "<u2"),
    ("place", "<u4"),
    ("cycle", "<u8"),
])
_KIND_SHIFT = 28
_PLACE_MASK = (1 << _KIND_SHIFT) - 1


@dataclass(frozen=True, eq=False)
class WriteLog:
    """Records in the order of their cycles.

    Parameters
    ----------
    records : array
        ``data``, ``mask`` and ``next_mask`` (a bit for each byte of a line and of the next),
        ``place`` (kind, and number of the line or word) and ``cycle``: as in `Activity`, the state
        of that cycle has what was written.
    """

    records: NDArray[Any]

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """Return the log that a simulator wrote."""
        whole = len(raw) // _RECORD.itemsize * _RECORD.itemsize
        return cls(np.frombuffer(raw[:whole], _RECORD))

    @classmethod
    def from_writes(cls, writes: list[tuple[int, WriteKind, int, int, bytes]]) -> Self:
        """Return a log of writes: cycle, kind, number, mask of both lines, and data of a line."""
        records = np.zeros(len(writes), _RECORD)
        for record, (cycle, kind, number, mask, octets) in zip(records, writes, strict=True):
            record["cycle"], record["place"] = cycle, kind << _KIND_SHIFT | number
            record["mask"], record["next_mask"] = mask & 0xFFFF, mask >> LINE_BYTES
            record["data"] = np.frombuffer(octets, np.uint8)
        return cls(records)

    def of_kind(self, kind: WriteKind) -> Self:
        """Return the records of a kind."""
        return type(self)(self.records[self.records["place"] >> _KIND_SHIFT == kind])

    def between(self, first: int, end: int) -> Self:
        """Return the records of the cycles from ``first`` to before ``end``."""
        start, stop = np.searchsorted(self.records["cycle"], [first, end])
        return type(self)(self.records[start:stop])

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Of the line or word of each record."""
        return (self.records["place"] & _PLACE_MASK).astype(np.int64)

    def octets(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
        """Return address, value and cycle of each byte that changes, in order.

        Parameters
        ----------
        size : int
            What addresses are counted modulo.
        """
        records, first = self.records, self.numbers * LINE_BYTES
        places, values, rows = [], [], []
        for line, name in enumerate(("mask", "next_mask")):
            bits = records[name][:, None] >> np.arange(LINE_BYTES) & 1
            row, column = np.nonzero(bits)
            places.append(first[row] + line * LINE_BYTES + column)
            values.append(records["data"][row, column])
            rows.append(row)
        order = np.argsort(np.concatenate(rows), kind="stable")
        found = np.concatenate(rows)[order]
        return (
            np.concatenate(places)[order] % size,
            np.concatenate(values)[order],
            records["cycle"][found].astype(np.int64),
        )


def _verilog(config: Config) -> str:
    """Return what writes the log, for the end of the system's module."""
    next_mask = f"{_SCRATCHPAD}.next_mask" if config.engine_macs == DEEP_MACS else "16'd0"
    command, word = f"{_PORT}.port__cmd__", f"{_PORT}.port__wdata__"

    def record(kind: WriteKind, place: str, masks: str, octets: str) -> str:
        # Verilator writes 32 bits at a time, the least significant first.
        parts = f"write_log_cycle, 4'd{kind:d}, {place}, {masks}, {octets}"
        return f'$fwrite(write_log, "%u", {{{parts}}});'

    line = record(
        WriteKind.LINE,
        f"28'({_SCRATCHPAD}.line_address)",
        f"{next_mask}, {_SCRATCHPAD}.line_mask",
        f"{_SCRATCHPAD}.line_write__data",
    )
    taken = record(WriteKind.COMMAND, f"28'({command}payload[24:1])", "32'd0", "128'd0")
    written = record(
        WriteKind.WORD, "28'd0", f"16'd0, {word}payload[143:128]", f"{word}payload[127:0]"
    )
    return "\n".join([
        "integer write_log;",
        "reg [63:0] write_log_cycle = 64'd0;",
        f'initial write_log = $fopen("{LOG_FILE}", "wb");',
        f"always @(posedge {_CLOCK}) begin",
        "    write_log_cycle <= write_log_cycle + 64'd1;",
        f"    if ({_SCRATCHPAD}.line_write) {line}",
        f"    if ({command}valid & {command}ready & {command}payload[0]) {taken}",
        f"    if ({word}valid & {word}ready) {written}",
        "end",
        "",
    ])


def logging_system(
    config: Config, system: Path, on_build: Callable[[], None] | None = None
) -> Path:
    """Return a folder like that of a system, whose Verilog writes the log; made at most once.

    Parameters
    ----------
    config : Config
        Of the hardware, with an engine.
    system : Path
        What `kiwicha.sim.soc.elaborate` has written.
    on_build : callable or None
        Called before it is made, and only if it is.
    """
    lines = _verilog(config)

    def make(folder: Path) -> None:
        for path in sorted(system.iterdir()):
            if path.is_file():
                (folder / path.name).write_bytes(path.read_bytes())
        text = (system / _SYSTEM).read_text(encoding="utf-8")
        start = text.index("endmodule", text.index("module soc"))
        changed = f"{text[:start]}{lines}{text[start:]}"
        (folder / _SYSTEM).write_text(changed, encoding="utf-8")

    key = cache.digest([lines, *(path for path in sorted(system.iterdir()) if path.is_file())])
    return cache.build("logging_soc", key, make, on_build=on_build)
