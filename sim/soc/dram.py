"""DRAM for LiteDRAM: the chip, its controller's settings, and a model of chip and PHY."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from litedram import modules
from litedram.common import (
    PhySettings,
    burst_lengths,
    get_default_cl,
    get_default_cl_cwl,
    get_sys_latency,
    get_sys_phase,
)
from litedram.core.controller import ControllerSettings
from litedram.phy.model import SDRAMPHYModel, get_sdram_phy_settings

from kiwicha.contract.memories import DDR3_HALF_RATE, DDR3_QUARTER_RATE, SDR_HALF_RATE, Memory

__all__ = ["chip", "controller_settings", "phy_model"]

_DATA_BITS = 16
"""Of every board's memory."""


def _quarter_rate(sys_clk_hz: int) -> PhySettings:
    """Return the settings of an A7DDRPHY, as LiteDRAM's model has them."""
    return get_sdram_phy_settings("DDR3", _DATA_BITS, sys_clk_hz)


def _half_rate(sys_clk_hz: int) -> PhySettings:
    """Return the settings of an ECP5DDRPHY."""
    phases = 2
    cl, cwl = get_default_cl_cwl("DDR3", 1 / (phases * sys_clk_hz))
    latency, write_latency = (get_sys_latency(phases, cycles) for cycles in (cl, cwl))
    return PhySettings(
        phytype="SDRAMPHYModel",
        memtype="DDR3",
        databits=_DATA_BITS,
        # A burst of 8 takes two system cycles, and is one word.
        dfi_databits=4 * _DATA_BITS,
        nphases=phases,
        rdphase=get_sys_phase(phases, latency, cl),
        wrphase=get_sys_phase(phases, write_latency, cwl),
        cl=cl,
        cwl=cwl,
        read_latency=latency + 10,
        write_latency=write_latency,
    )


def _single_rate(sys_clk_hz: int) -> PhySettings:
    """Return the settings of a HalfRateGENSDRPHY."""
    cl = get_default_cl("SDR", 1 / sys_clk_hz)
    return PhySettings(
        phytype="SDRAMPHYModel",
        memtype="SDR",
        databits=_DATA_BITS,
        dfi_databits=_DATA_BITS,
        nphases=2,
        rdphase=0,
        wrphase=0,
        cl=cl,
        # Of the PHY at the memory's clock, and one cycle to take it over.
        read_latency=(cl + 1) // 2 + 1,
        write_latency=0,
    )


def _slow_controller() -> ControllerSettings:
    # A command is not compared with the one behind it: a row stays open until another is wanted.
    # The controller's longest paths are shorter so. With a register behind each bank's queue
    # (cmd_buffer_buffered) they would be shorter still, but LiteDRAM does not see what is on its
    # way there: a port's next command could go to another bank, and be executed first.
    return ControllerSettings(with_auto_precharge=False)


@dataclass(frozen=True)
class _Kind:
    phy: Callable[[int], PhySettings]
    controller: Callable[[], ControllerSettings] = field(default=ControllerSettings)


_KINDS = {
    DDR3_QUARTER_RATE: _Kind(_quarter_rate),
    DDR3_HALF_RATE: _Kind(_half_rate, _slow_controller),
    SDR_HALF_RATE: _Kind(_single_rate, _slow_controller),
}


def chip(memory: Memory, sys_clk_hz: int) -> Any:
    """Return LiteDRAM's description of a memory's chip, with its times in cycles."""
    module = getattr(modules, memory.chip)(sys_clk_hz, f"1:{memory.phases}")
    if memory.refresh_ns:
        # LiteDRAM counts as many cycles of any clock as the chip takes of its fastest one.
        cycles = module.ns_to_cycles(memory.refresh_ns)
        module.timing_settings.tRFC = cycles
    return module


def controller_settings(memory: Memory) -> ControllerSettings:
    """Return the settings of a memory's controller."""
    return _KINDS[memory].controller()


def phy_model(memory: Memory, module: Any) -> SDRAMPHYModel:
    """Return a model of a memory's chip and of the PHY before it, at the memory's clock.

    Parameters
    ----------
    memory : Memory
        What is modelled.
    module : SDRAMModule
        Its chip.
    """
    settings = _KINDS[memory].phy(memory.clock_hz)
    # LiteDRAM's model takes a word for a burst of as many columns as the PHY has phases, times a
    # number that depends on the type. Where that is wrong, the type of another such number helps.
    columns = settings.nphases if settings.memtype == "SDR" else burst_lengths[settings.memtype]
    by_columns = {1: "SDR", 2: "DDR3", 4: "RPC"}
    modelled = copy.copy(settings)
    modelled.memtype = by_columns[columns // settings.nphases]
    model = SDRAMPHYModel(module, settings=modelled, clk_freq=memory.clock_hz)
    model.settings = settings
    return model
