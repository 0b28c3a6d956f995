"""The log of the commands that DRAM gets, and the times that its chip asks for."""

import math
from collections.abc import Generator
from typing import Any

from litedram.common import burst_lengths
from migen import Cat, Display, If, Module, Signal

from kiwicha.contract.memories import Memory
from kiwicha.sim.soc.dram import chip, phy_model
from kiwicha.sim.soc.dram_timing import ALL_BANKS, LOG_FORMAT, NO_COMMAND, DramTimes

__all__ = ["CommandLog", "commands_of", "dram_times"]

_FASTEST_CLOCK_NS = 1.25
"""Of DDR3-1600, in whose cycles LiteDRAM gives the time of a refresh."""
_READ_TO_PRECHARGE = (4, 7.5)
"""tRTP of DDR3, which LiteDRAM does not know: cycles and nanoseconds."""


def dram_times(memory: Memory) -> DramTimes:
    """Return the times of a memory's chip, at its clock."""
    module = chip(memory, memory.clock_hz)
    settings = phy_model(memory, module).settings
    clock_ns = 1e9 / memory.clock_hz / memory.phases

    def cycles(name: str) -> int:
        time = module.get(name)
        return 0 if time is None else max(time.ck, math.ceil(round(time.ns / clock_ns, 6)))

    refresh = module.get("tRFC")
    refresh_ns = memory.refresh_ns or refresh.ns or refresh.ck * _FASTEST_CLOCK_NS
    if settings.memtype == "SDR":
        # Of a burst of a word of each phase, the first comes with the command.
        last_data, read_to_precharge = settings.nphases - 1, 0
    else:
        last_data = settings.cwl + burst_lengths[settings.memtype] // 2
        least, least_ns = _READ_TO_PRECHARGE
        read_to_precharge = max(least, math.ceil(least_ns / clock_ns))
    return DramTimes(
        banks=module.nbanks,
        rp=cycles("tRP"),
        rcd=cycles("tRCD"),
        ras=cycles("tRAS"),
        rc=cycles("tRAS") + cycles("tRP"),
        rfc=math.ceil(round(refresh_ns / clock_ns, 6)),
        rrd=cycles("tRRD"),
        faw=cycles("tFAW"),
        ccd=cycles("tCCD"),
        rtp=read_to_precharge,
        refi=cycles("tREFI"),
        write_to_precharge=last_data + cycles("tWR"),
        write_to_read=last_data + cycles("tWTR"),
    )


class CommandLog(Module):
    """Prints the commands that a chip gets, for `DramTiming.take_line`.

    Parameters
    ----------
    dfi : Record
        Where they pass: the PHY's interface.
    phases : int
        Of the memory's clock.
    """

    def __init__(self, dfi: Any, phases: int) -> None:
        now = Signal(64)
        self.sync += now.eq(now + phases)
        for number in range(phases):
            phase = getattr(dfi, f"p{number}")
            # Migen prints signals, no expressions.
            time, command, bit = Signal.like(now), Signal(3), Signal()
            self.comb += [
                time.eq(now + number),
                command.eq(Cat(phase.we_n, phase.cas_n, phase.ras_n)),
                bit.eq(phase.address[ALL_BANKS]),
            ]
            self.sync += If(
                ~phase.cs_n[0] & (command != NO_COMMAND),
                Display(LOG_FORMAT, time, command, phase.bank, bit),
            )


def commands_of(dfi: Any, phases: int) -> Generator[Any, Any, list[tuple[int, int, int, int]]]:
    """Return, in Migen's simulator, the commands of a cycle: phase, command, bank, bit 10."""
    found = []
    for number in range(phases):
        phase = getattr(dfi, f"p{number}")
        if (yield phase.cs_n):
            continue
        command = (yield phase.we_n) | (yield phase.cas_n) << 1 | (yield phase.ras_n) << 2
        if command != NO_COMMAND:
            address = yield phase.address
            found.append((number, command, (yield phase.bank), address >> ALL_BANKS & 1))
    return found
