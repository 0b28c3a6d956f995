"""A model of a microphone, for the simulation: a recording, again and again."""

from litex.gen import LiteXModule
from migen import Cat, If, Memory, Record, Signal

from kiwicha.sim.soc.microphone import MICROPHONE_PADS

__all__ = ["MICROPHONE_CONTENTS", "MICROPHONE_SAMPLES", "MicrophoneModel"]

MICROPHONE_CONTENTS = "microphone_contents"
"""Name of its memory. The simulator reads the samples, two bytes each, the lower one first, a byte
in hexadecimal digits per line, from ``soc_microphone_contents.init`` in the folder where it runs.
"""
MICROPHONE_SAMPLES = 1 << 16
_WORD_BITS = 24


class MicrophoneModel(LiteXModule):
    """A microphone with an I2S port, whose words have 24 bits.

    It gives a word in each left slot; behind it, and in right slots, the line is high. Each frame
    has the next sample, of the first one from the recording's beginning on.

    Members
    -------
    pads : Record
        `MICROPHONE_PADS`, clocks of which must stay for eight cycles of the system or longer.
    """

    def __init__(self) -> None:
        self.pads = pads = Record(MICROPHONE_PADS)
        memory = Memory(8, 2 * MICROPHONE_SAMPLES, init=[0], name=MICROPHONE_CONTENTS)
        port = memory.get_port()
        self.specials += memory, port
        at, is_upper, was_upper = Signal(max=MICROPHONE_SAMPLES), Signal(), Signal()
        lower, upper = Signal(8), Signal(8)
        bclk, was_right, starts = Signal(reset=1), Signal(reset=1), Signal()
        word = Signal(_WORD_BITS, reset=-1)
        self.comb += [port.adr.eq(Cat(is_upper, at)), pads.data.eq(word[-1])]
        self.sync += [
            is_upper.eq(~is_upper),
            was_upper.eq(is_upper),
            If(was_upper, upper.eq(port.dat_r)).Else(lower.eq(port.dat_r)),
            bclk.eq(pads.bclk),
            If(pads.bclk & ~bclk, starts.eq(was_right & ~pads.lrclk), was_right.eq(pads.lrclk)),
            If(
                ~pads.bclk & bclk,
                # The bits behind a sample are not those that a sample of 16 bits would end with.
                If(starts, word.eq(Cat(~lower, lower, upper)), at.eq(at + 1)).Else(
                    word.eq(Cat(1, word[:-1]))
                ),
            ),
        ]
