"""The engine: a data path and what keeps it busy."""

from typing import Any

from amaranth import Module, ResetInserter
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.control.command_unit import ENGINE_COMMAND
from kiwicha.gateware.engine.control.controller import Control
from kiwicha.gateware.engine.datapath import Core
from kiwicha.gateware.engine.memory.memory_port import MEMORY_PORT

__all__ = ["Engine", "connect_core"]


class Engine(wiring.Component):
    """Execute lists of jobs and transfers from DRAM, as `isa_engine` describes them.

    Parameters
    ----------
    macs : int
        Products per cycle, 32, 64 or 128.
    scratchpad_bytes : int
        A multiple of 1024 up to 262144.
    lanes : int or None
        Of the requantizer: 4, or None for as many as the array has outputs.
    has_codec : bool
        Weights can be coded.
    vendor : Vendor
        What the multipliers are built from.

    Members
    -------
    commands : ``In(stream.Signature(ENGINE_COMMAND))``
        Instructions; the next is taken after the response to the last. See `CommandUnit`.
    responses : ``Out(stream.Signature(32))``
        One for each.
    memory : ``Out(MEMORY_PORT)``
        Port to DRAM.

    Raises
    ------
    ValueError
        If a parameter is out of range.
    """

    def __init__(
        self,
        *,
        macs: int,
        scratchpad_bytes: int,
        lanes: int | None = None,
        has_codec: bool = True,
        vendor: Vendor = Vendor.GENERIC,
    ) -> None:
        self.core = Core(macs=macs, scratchpad_bytes=scratchpad_bytes, lanes=lanes, vendor=vendor)
        self.control = Control(macs=macs, scratchpad_bytes=scratchpad_bytes, has_codec=has_codec)
        super().__init__({
            "commands": In(stream.Signature(ENGINE_COMMAND)),
            "responses": Out(stream.Signature(32)),
            "memory": Out(MEMORY_PORT),
        })

    def elaborate(self, platform: object) -> Module:
        """Connect the two; an error resets the data path."""
        m = Module()
        m.submodules.control = control = self.control
        m.submodules.core = ResetInserter(control.clear)(self.core)
        wiring.connect(m, wiring.flipped(self.commands), control.commands)
        wiring.connect(m, control.responses, wiring.flipped(self.responses))
        wiring.connect(m, control.memory, wiring.flipped(self.memory))
        connect_core(m, control, self.core)
        return m


def connect_core(m: Module, control: Control, core: Any) -> None:
    """Connect a data path with the ports of a `Core` to its control."""
    wiring.connect(m, control.fills, core.fills)
    wiring.connect(m, control.beats, core.beats)
    wiring.connect(m, control.accesses, core.accesses)
    m.d.comb += [
        core.job.eq(control.job),
        core.start.eq(control.start),
        core.heads.eq(control.heads),
        core.weight_zero_point.eq(control.weight_zero_point),
        core.weights_are_unsigned.eq(control.weights_are_unsigned),
        core.weights_are_tables.eq(control.weights_are_tables),
        core.weights_are_packed.eq(control.weights_are_packed),
        control.done.eq(core.done),
        control.read_data.eq(core.read_data),
        control.counts.eq(core.counts),
    ]
