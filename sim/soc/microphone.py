"""A microphone whose samples go to DRAM, where the CPU reads them."""

from typing import Any

from migen import ClockSignal, Instance, ResetSignal

from kiwicha.gateware.i2s_receiver import MODULE
from kiwicha.sim.soc.sample_ring import SampleRing

__all__ = ["MICROPHONE_PADS", "Microphone"]

MICROPHONE_PADS = [("bclk", 1), ("lrclk", 1), ("data", 1)]


class Microphone(SampleRing):
    """The samples of a microphone with an I2S port, in a ring in DRAM.

    While sound is not enabled the microphone has no clock.

    Parameters
    ----------
    pads : Record
        `MICROPHONE_PADS`.
    port : LiteDRAMNativePort
        Of 16 bytes, to write.
    """

    def __init__(self, *, pads: Any, port: Any) -> None:
        super().__init__(port=port)
        self.specials += Instance(
            MODULE,
            i_clk=ClockSignal(),
            i_rst=ResetSignal(),
            i_is_enabled=self.is_taking,
            o_bclk=pads.bclk,
            o_lrclk=pads.lrclk,
            i_data=pads.data,
            o_o_valid=self.is_sample,
            o_o_payload=self.sample,
        )
