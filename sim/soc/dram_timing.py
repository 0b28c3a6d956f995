"""What a DRAM chip asks of the order and the times of its commands, and who breaks it.

LiteDRAM's own checker takes a word of our half-rate memories for another type's, with other times,
and never misses a refresh. Here commands are logged by the simulated system, and checked outside.
"""

import re
from collections import deque
from dataclasses import dataclass

__all__ = ["ALL_BANKS", "LOG_FORMAT", "NO_COMMAND", "DramTimes", "DramTiming"]

_LOG = re.compile(r"dram (\d+) (\d) (\d+) (\d)\n?")
LOG_FORMAT = "dram %0d %0d %0d %0d"
"""Cycle of the memory's clock, command, bank, address bit `ALL_BANKS`."""
_ACTIVATE, _PRECHARGE, _READ, _WRITE, _REFRESH = 0b011, 0b010, 0b101, 0b100, 0b001
NO_COMMAND = 0b111
"""Commands are RAS, CAS and WE, each low when it is active."""
ALL_BANKS = 10
"""Address bit: a precharge is of all banks, or one comes by itself behind a read or write."""
_POSTPONED_REFRESHES = 9
"""Intervals from one refresh to the next, at most: JEDEC lets 8 be postponed."""
_MOST_REPORTED = 20


@dataclass(frozen=True, kw_only=True)
class DramTimes:
    """Times of a chip, in cycles of the memory's clock, named as in its data sheet.

    Parameters
    ----------
    banks : int
        How many the chip has.
    rp, rcd, ras, rc, rfc, rrd, faw, ccd, rtp, refi : int
        tRP to tREFI; 0 where the chip has no such time.
    write_to_precharge, write_to_read : int
        tWR and tWTR, from the command on and not from its last data.
    """

    banks: int
    rp: int
    rcd: int
    ras: int
    rc: int
    rfc: int
    rrd: int
    faw: int
    ccd: int
    rtp: int
    refi: int
    write_to_precharge: int
    write_to_read: int


class DramTiming:
    """Follows the commands that a chip gets, and notes which rules they break.

    Parameters
    ----------
    times : DramTimes
        Of the chip.

    Attributes
    ----------
    violations : list of str
        Rule, place and time, the first ones alone.
    count : int
        Of all.
    commands : int
        How many came.
    """

    def __init__(self, times: DramTimes) -> None:
        self.times = times
        self.violations: list[str] = []
        self.count = 0
        self.commands = 0
        long_ago = -(1 << 40)
        self._activated = [long_ago] * times.banks
        self._precharged = [long_ago] * times.banks
        self._read = [long_ago] * times.banks
        self._written = [long_ago] * times.banks
        self._is_open = [False] * times.banks
        self._last = dict.fromkeys((_READ, _WRITE, _REFRESH), long_ago)
        self._activations = deque([long_ago] * 4, maxlen=4)
        self._refreshed = 0
        self._now, self._bank = 0, 0

    def take_line(self, line: str) -> None:
        """Take a line of what the simulated system prints, if it is one of a `CommandLog`."""
        match = _LOG.fullmatch(line)
        if match:
            now, command, bank, bit = map(int, match.groups())
            self.take(now, command, bank, is_all=bool(bit))

    def take(self, now: int, command: int, bank: int, *, is_all: bool) -> None:
        """Take a command, in the order of time.

        Parameters
        ----------
        now : int
            Cycle of the memory's clock.
        command : int
            RAS, CAS and WE.
        bank : int
        is_all : bool
            Address bit 10.
        """
        self.commands += 1
        self._now, self._bank = now, bank
        if now - self._refreshed > _POSTPONED_REFRESHES * self.times.refi:
            self._break("tREFI", "no refresh in time")
            self._refreshed = now
        if command == _ACTIVATE:
            self._activate()
        elif command == _PRECHARGE:
            for number in range(self.times.banks) if is_all else (bank,):
                self._precharge(number)
        elif command in {_READ, _WRITE}:
            self._access(command, is_last=is_all)
        elif command == _REFRESH:
            self._refresh()

    def _break(self, rule: str, text: str) -> None:
        self.count += 1
        if self.count <= _MOST_REPORTED:
            self.violations.append(f"{rule}: {text}, bank {self._bank}, clock {self._now}")

    def _expect(self, rule: str, earlier: int, cycles: int) -> None:
        gap = self._now - earlier
        if gap < cycles:
            self._break(rule, f"{gap} cycles where {cycles} must pass")

    def _activate(self) -> None:
        bank, times = self._bank, self.times
        if self._is_open[bank]:
            self._break("open", "an activation of a bank that is open")
        self._expect("tRP", self._precharged[bank], times.rp)
        self._expect("tRC", self._activated[bank], times.rc)
        self._expect("tRFC", self._last[_REFRESH], times.rfc)
        self._expect("tRRD", self._activations[-1], times.rrd)
        self._expect("tFAW", self._activations[0], times.faw)
        self._activations.append(self._now)
        self._activated[bank] = self._now
        self._is_open[bank] = True

    def _precharge(self, bank: int) -> None:
        if not self._is_open[bank]:
            return
        self._expect("tRAS", self._activated[bank], self.times.ras)
        self._expect("tRTP", self._read[bank], self.times.rtp)
        self._expect("tWR", self._written[bank], self.times.write_to_precharge)
        self._precharged[bank] = self._now
        self._is_open[bank] = False

    def _access(self, command: int, *, is_last: bool) -> None:
        bank, times = self._bank, self.times
        if not self._is_open[bank]:
            self._break("closed", "an access to a bank that is closed")
        self._expect("tRCD", self._activated[bank], times.rcd)
        self._expect("tCCD", self._last[command], times.ccd)
        other = self._last[_READ if command == _WRITE else _WRITE]
        self._expect("tCCD", other, times.ccd)
        if command == _READ:
            self._expect("tWTR", other, times.write_to_read)
            self._read[bank], until = self._now, times.rtp
        else:
            self._written[bank], until = self._now, times.write_to_precharge
        self._last[command] = self._now
        if is_last:
            # The chip waits by itself before it precharges.
            earliest = self._activated[bank] + times.ras
            self._precharged[bank] = max(self._now + until, earliest)
            self._is_open[bank] = False

    def _refresh(self) -> None:
        if any(self._is_open):
            self._break("open", "a refresh while a bank is open")
        for earlier in self._precharged:
            self._expect("tRP", earlier, self.times.rp)
        self._expect("tRFC", self._last[_REFRESH], self.times.rfc)
        self._last[_REFRESH] = self._refreshed = self._now
