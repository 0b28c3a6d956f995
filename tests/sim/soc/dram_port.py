"""The system's side of a port to DRAM."""

import random
from collections.abc import Iterator
from typing import Any

from kiwicha.contract.engine import LINE_BYTES

__all__ = ["Memory"]


class Memory:
    """The memory behind a port: it takes writes, sometimes late.

    Parameters
    ----------
    port : LiteDRAMNativePort
        To serve.
    waits : int
        Cycles that a command waits, on average.
    """

    def __init__(self, port: Any, waits: int) -> None:
        self.lines: dict[int, int] = {}
        self._port, self._waits = port, waits

    def serve(self, cycles: int) -> Iterator[Any]:
        """Take writes for so many cycles."""
        rng, addresses = random.Random(2), list[int]()
        port = self._port
        for _ in range(cycles):
            if (yield port.cmd.valid) and (yield port.cmd.ready):
                assert (yield port.cmd.we)
                addresses.append((yield port.cmd.addr))
            if (yield port.wdata.valid) and (yield port.wdata.ready):
                self.lines[addresses.pop(0)] = yield port.wdata.data
            yield port.cmd.ready.eq(rng.randrange(self._waits + 1) == 0)
            yield port.wdata.ready.eq(bool(addresses))
            yield

    def read(self, place: int, size: int) -> bytes:
        """Return bytes of whole lines from an offset in DRAM on; what was not written is zero."""
        numbers = range(place // LINE_BYTES, (place + size) // LINE_BYTES)
        return b"".join(self.lines.get(k, 0).to_bytes(LINE_BYTES, "little") for k in numbers)
