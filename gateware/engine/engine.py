"""The engine: a data path and what keeps it busy."""

from amaranth import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.array.mac_cell import Vendor
from kiwicha.gateware.engine.control.controller import Controller
from kiwicha.gateware.engine.datapath import Datapath
from kiwicha.gateware.engine.interfaces import EngineSignature

__all__ = ["Engine"]


class Engine(wiring.Component):
    """Execute lists of jobs and transfers from DRAM, as `kiwicha.contract.engine` describes them.

    Parameters
    ----------
    macs : int
        Products per cycle, 32, 64, 128 or 256.
    scratchpad_bytes : int
        A multiple of 1024 up to 262144.
    lanes : int or None
        Of the requantizer: 4, or None for as many as the array has outputs.
    has_codec : bool
        Weights can be coded.
    has_blocks : bool
        The code is that of blocks.
    is_resident : bool
        Words of weights can be kept.
    has_softmax : bool
        There are SOFTMAX jobs.
    has_depthwise : bool
        There is a depthwise unit.
    is_preemptible : bool
        Lists can pause; without a depthwise unit and kept weights.
    has_int16 : bool
        There are jobs of int16; without a depthwise unit and pauses.
    has_recurrent : bool
        There are RECURRENT jobs; with jobs of int16.
    vendor : Vendor
        What the multipliers are built from.

    Members
    -------
    reset : ``In(1)``
        Reset of everything, beside that of the domain, which can be without. Registers that are
        reset after an error too have no other: so what resets most of them is a register.
    is_running : ``Out(1)``
        Only if ``is_preemptible``: a list runs.
    See `EngineSignature` for the others.

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
        has_blocks: bool = False,
        is_resident: bool = False,
        has_softmax: bool = False,
        has_depthwise: bool = False,
        is_preemptible: bool = False,
        has_int16: bool = False,
        has_recurrent: bool = False,
        vendor: Vendor = Vendor.GENERIC,
    ) -> None:
        if has_int16 and (is_preemptible or has_depthwise):
            raise ValueError(
                "an engine with jobs of int16 must not be preemptible, and have no depthwise unit"
            )
        if has_recurrent and not has_int16:
            raise ValueError("an engine with RECURRENT jobs must have jobs of int16")
        if is_preemptible and (is_resident or has_depthwise):
            raise ValueError(
                "an engine that is preemptible must keep no weights and have no depthwise unit"
            )
        self.is_preemptible = is_preemptible
        self.datapath = Datapath(
            macs=macs,
            scratchpad_bytes=scratchpad_bytes,
            lanes=lanes,
            has_softmax=has_softmax,
            has_blocks=has_blocks,
            is_resident=is_resident,
            has_depthwise=has_depthwise,
            has_int16=has_int16,
            has_recurrent=has_recurrent,
            vendor=vendor,
        )
        self.controller = Controller(
            macs=macs,
            scratchpad_bytes=scratchpad_bytes,
            has_codec=has_codec,
            has_blocks=has_blocks,
            is_resident=is_resident,
            has_softmax=has_softmax,
            has_depthwise=has_depthwise,
            is_preemptible=is_preemptible,
            has_int16=has_int16,
            has_recurrent=has_recurrent,
        )
        running = {"is_running": Out(1)} if is_preemptible else {}
        super().__init__({**EngineSignature().flip().members, **running, "reset": In(1)})

    def elaborate(self, platform: object) -> Module:
        """Connect the two; an error resets the data path, one cycle after the controller."""
        m = Module()
        m.submodules.controller = controller = self.controller
        clear_s1 = Signal(init=1, reset_less=True)
        m.submodules.datapath = ResetInserter(clear_s1)(self.datapath)
        m.d.comb += controller.reset.eq(self.reset)
        if self.is_preemptible:
            m.d.comb += self.is_running.eq(controller.is_running)
        m.d.sync += clear_s1.eq(controller.clear)
        wiring.connect(m, wiring.flipped(self.commands), controller.commands)
        wiring.connect(m, controller.responses, wiring.flipped(self.responses))
        wiring.connect(m, controller.memory, wiring.flipped(self.memory))
        wiring.connect(m, controller.datapath, self.datapath)
        return m
