"""Memories: the DRAM that the system is built around, as compiler and simulation know it.

A Program is scheduled for one of them and runs with any. Boards name theirs in
`kiwicha.boards.memories`.
"""

from dataclasses import dataclass

from kiwicha.contract.cfu import CLOCK_HZ, DRAM_BYTES

_REFRESH_S = 7.82e-6
"""From one refresh of DRAM to the next."""

__all__ = ["DDR3_HALF_RATE", "DDR3_QUARTER_RATE", "MEMORIES", "SDR_HALF_RATE", "Memory"]


@dataclass(frozen=True, kw_only=True)
class Memory:
    """DRAM behind the ports of engine and CPU.

    Cycles are those of the system's clock, measured on the simulated system.

    Parameters
    ----------
    name : str
        Name in reports.
    chip : str
        The memory chip, as LiteDRAM names it.
    phases : int
        Cycles of the memory's clock in one of the system's.
    clock_hz : int
        The system's clock.
    dram_bytes : int
        What the system uses of it.
    refresh_ns : float
        How long the chip is busy with a refresh; 0: as LiteDRAM has it.
    bytes_per_cycle : float
        Of sequential reads through the engine's port, refresh included.
    refresh_cycles : int
        How long nothing comes while it is refreshed.
    latency_cycles : int
        From the engine's request to the first word.
    load_start_cycles, store_start_cycles : int
        From a transfer's turn to its first line.
    store_end_cycles : int
        From a store's last line until DRAM has it.
    turn_cycles, store_turn_cycles : int
        From what one client of the engine's port reads, or stores, to what another one reads.
    transfer_cycles : int
        What a transfer takes besides its bytes, about; for choosing among many.
    list_start_cycles : int
        From the start instruction until the first descriptors of a list are there.
    list_cpu_cycles : int
        What the CPU needs to start a list and to go on after it.
    """

    name: str
    chip: str
    phases: int
    clock_hz: int
    dram_bytes: int
    refresh_ns: float = 0
    bytes_per_cycle: float
    refresh_cycles: int
    latency_cycles: int
    load_start_cycles: int
    store_start_cycles: int
    store_end_cycles: int
    turn_cycles: int
    store_turn_cycles: int
    transfer_cycles: int
    list_start_cycles: int
    list_cpu_cycles: int

    @property
    def refresh_share(self) -> float:
        """Cycles of refresh in one."""
        return self.refresh_cycles / (_REFRESH_S * self.clock_hz)


DDR3_QUARTER_RATE = Memory(
    name="ddr3-quarter-rate",
    chip="MT41K128M16",
    phases=4,
    clock_hz=CLOCK_HZ,
    dram_bytes=DRAM_BYTES,
    bytes_per_cycle=14.2,
    refresh_cycles=43,
    latency_cycles=17,
    load_start_cycles=28,
    store_start_cycles=8,
    store_end_cycles=25,
    turn_cycles=6,
    store_turn_cycles=20,
    transfer_cycles=40,
    list_start_cycles=32,
    list_cpu_cycles=200,
)
"""16 bits of DDR3 at four times the system's clock: 16 bytes in each of its cycles."""
DDR3_HALF_RATE = Memory(
    name="ddr3-half-rate",
    chip="MT41K256M16",
    phases=2,
    clock_hz=60_000_000,
    dram_bytes=DRAM_BYTES,
    refresh_ns=260,
    bytes_per_cycle=7.37,
    refresh_cycles=26,
    latency_cycles=24,
    load_start_cycles=36,
    store_start_cycles=8,
    store_end_cycles=33,
    turn_cycles=6,
    store_turn_cycles=20,
    transfer_cycles=48,
    list_start_cycles=80,
    list_cpu_cycles=200,
)
"""16 bits of DDR3 at twice the system's clock: 8 bytes in each of its cycles."""
SDR_HALF_RATE = Memory(
    name="sdr-half-rate",
    chip="MT48LC16M16",
    phases=2,
    clock_hz=50_000_000,
    dram_bytes=32 << 20,
    bytes_per_cycle=3.12,
    refresh_cycles=14,
    latency_cycles=29,
    load_start_cycles=44,
    store_start_cycles=8,
    store_end_cycles=38,
    turn_cycles=6,
    store_turn_cycles=20,
    transfer_cycles=48,
    list_start_cycles=105,
    list_cpu_cycles=200,
)
"""16 bits of SDRAM at twice the system's clock: 4 bytes in each of its cycles."""
MEMORIES = {memory.name: memory for memory in (DDR3_QUARTER_RATE, DDR3_HALF_RATE, SDR_HALF_RATE)}
"""By name; the first one is meant where no board is named."""
