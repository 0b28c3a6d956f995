"""A model of an SPI flash memory, for the simulation."""

from typing import Any

from litex.gen import LiteXModule
from migen import Case, Cat, If, Memory, Record, Signal

from kiwicha.contract.flash import FLASH_IMAGE_OFFSET

__all__ = ["FLASH_CONTENTS", "FLASH_MODEL_BYTES", "FLASH_PADS", "FlashModel"]

FLASH_CONTENTS = "flash_contents"
"""Name of its memory. The simulator reads the contents, a byte in hexadecimal digits per line, from
``soc_flash_contents.init`` in the folder where it runs."""
FLASH_MODEL_BYTES = 1 << 19
"""From `kiwicha.contract.flash.FLASH_IMAGE_OFFSET` on; higher bits of addresses count for
nothing."""
assert FLASH_IMAGE_OFFSET % FLASH_MODEL_BYTES == 0, "contents begin at address 0 of the model"
FLASH_PADS = [("clk", 1), ("cs_n", 1), ("mosi", 1), ("miso", 1)]

_READ = 0x03
_COMMAND_BITS = 32
"""Of the operation and the address."""


class FlashModel(LiteXModule):
    """SPI flash memory in mode 0 that knows the operation READ, and says nothing to others.

    Its clock must be high and low for two cycles of the system at least.

    Members
    -------
    pads : Record
        `FLASH_PADS`.
    """

    def __init__(self) -> None:
        self.pads = pads = Record(FLASH_PADS)
        memory = Memory(8, FLASH_MODEL_BYTES, init=[0], name=FLASH_CONTENTS)
        port = memory.get_port()
        self.specials += memory, port

        was_high = Signal()
        rises, falls = Signal(), Signal()
        self.sync += was_high.eq(pads.clk)
        self.comb += [rises.eq(pads.clk & ~was_high), falls.eq(~pads.clk & was_high)]

        command = Signal(_COMMAND_BITS)
        count = Signal(max=_COMMAND_BITS + 1)
        address = Signal(24)
        bit = Signal(3)
        is_reading = Signal()
        self.comb += [
            port.adr.eq(address),
            is_reading.eq((count == _COMMAND_BITS) & (command[24:] == _READ)),
        ]
        shown: dict[Any, Any] = {k: pads.miso.eq(port.dat_r[7 - k] & is_reading) for k in range(8)}
        self.sync += [
            If(
                pads.cs_n,
                count.eq(0),
                pads.miso.eq(0),
            )
            .Elif(
                rises & (count != _COMMAND_BITS),
                command.eq(Cat(pads.mosi, command)),
                count.eq(count + 1),
                address.eq(Cat(pads.mosi, command)),
                bit.eq(0),
            )
            .Elif(
                falls & is_reading,
                Case(bit, shown),
                bit.eq(bit + 1),
                If(bit == 7, address.eq(address + 1)),
            )
        ]
