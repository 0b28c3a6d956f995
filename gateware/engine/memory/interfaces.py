"""What passes between DRAM, the scratchpad and their users."""

import enum

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.cfu import DRAM_BYTES
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.contract.floats import FLOAT_BYTES
from kiwicha.gateware.engine.descriptors import BYTE_BITS, LINE_BITS

__all__ = [
    "GRANT",
    "LINE_ACCESS",
    "OFFSET_BITS",
    "PORT_ADDRESS_BITS",
    "RANGE_REQUEST",
    "READ_BEAT",
    "TRANSFER_STEP",
    "WORD_RANGE",
    "WRITE_BEAT",
    "ConversionSignature",
    "LinePortSignature",
    "LineSource",
    "LineSourceSignature",
    "MemoryPortSignature",
    "RangeSettingSignature",
    "ReadPortSignature",
    "StoreSignature",
    "WritePortSignature",
]

PORT_ADDRESS_BITS = (DRAM_BYTES // LINE_BYTES - 1).bit_length()
"""Number of a word of DRAM. A word is `LINE_BYTES` bytes: one transfer of the port."""
OFFSET_BITS = 28
"""Offsets and sizes in descriptors: 32 bits in bytes, counted here in words."""

WORD_RANGE = data.StructLayout({"address": PORT_ADDRESS_BITS, "words": PORT_ADDRESS_BITS})
"""Consecutive words of DRAM, 1 or more."""
GRANT = data.StructLayout({**WORD_RANGE.members, "end": PORT_ADDRESS_BITS})
"""The same, and the address behind the last one."""
RANGE_REQUEST = data.StructLayout({
    "offset": OFFSET_BITS,
    "words": OFFSET_BITS,
    "is_program": 1,
    "is_write": 1,
})
"""Words from an offset in the Program or the arena on, 1 or more; to be read or written."""
READ_BEAT = data.StructLayout({"data": 8 * LINE_BYTES, "is_last": 1})
"""A word that was read; the last of what was asked for."""
WRITE_BEAT = data.StructLayout({"data": 8 * LINE_BYTES, "mask": LINE_BYTES})
"""A word to be written, and which of its bytes."""
TRANSFER_STEP = data.StructLayout({
    "offset": OFFSET_BITS - 1,
    "line": LINE_BITS,
    "lines": LINE_BITS + 3,
    "first_byte": BYTE_BITS,
    "last_bytes": BYTE_BITS,
    "is_program": 1,
    "is_store": 1,
    "is_float": 1,
    "is_table": 1,
    "wait_jobs": 16,
})
"""A transfer: ``lines`` words from ``offset`` on, in words, and as many lines of the scratchpad. Of
the first one bytes from ``first_byte`` on count, of the last one ``last_bytes``, 0 meaning 16. With
``is_float`` four words and a line hold as many elements; with ``is_table`` words go to the
converter."""
LINE_ACCESS = data.StructLayout({
    "line": LINE_BITS,
    "is_write": 1,
    "mask": LINE_BYTES,
    "data": 8 * LINE_BYTES,
})
"""An access to a 16-byte line of the scratchpad; ``mask`` and ``data`` are those of a write."""


class MemoryPortSignature(wiring.Signature):
    """A LiteDRAM native port, 128 bits wide, as the engine sees it.

    Members
    -------
    cmd : ``Out(stream.Signature(StructLayout(we, addr)))``
        Reads and writes of a word; ``addr`` counts words.
    wdata : ``Out(stream.Signature(StructLayout(data, we)))``
        Data of writes; may be taken at any time after their command.
    rdata : ``In(stream.Signature(128, always_ready=True))``
        Words of reads, in order; must be taken when they come.
    """

    def __init__(self) -> None:
        command = data.StructLayout({"we": 1, "addr": PORT_ADDRESS_BITS})
        written = data.StructLayout({"data": 8 * LINE_BYTES, "we": LINE_BYTES})
        super().__init__({
            "cmd": Out(stream.Signature(command)),
            "wdata": Out(stream.Signature(written)),
            "rdata": In(stream.Signature(8 * LINE_BYTES, always_ready=True)),
        })


class ReadPortSignature(wiring.Signature):
    """What a reader sees of the DRAM port.

    Members
    -------
    commands : ``Out(stream.Signature(StructLayout(address, is_last)))``
        Words to be read.
    beats : ``In(stream.Signature(READ_BEAT, always_ready=True))``
        A beat per command, in order, which the reader must take.
    """

    def __init__(self) -> None:
        command = data.StructLayout({"address": PORT_ADDRESS_BITS, "is_last": 1})
        super().__init__({
            "commands": Out(stream.Signature(command)),
            "beats": In(stream.Signature(READ_BEAT, always_ready=True)),
        })


class WritePortSignature(wiring.Signature):
    """What a writer sees of the DRAM port.

    Members
    -------
    commands : ``Out(stream.Signature(PORT_ADDRESS_BITS))``
        Addresses of words to be written.
    beats : ``Out(stream.Signature(WRITE_BEAT))``
        The words. A command's beat is offered no later than the command.
    """

    def __init__(self) -> None:
        super().__init__({
            "commands": Out(stream.Signature(PORT_ADDRESS_BITS)),
            "beats": Out(stream.Signature(WRITE_BEAT)),
        })


class LineSource(enum.Enum):
    """What the scratchpad's line port shows two cycles later."""

    MEMORY = 0
    """The line that is addressed."""
    LOADED = 2
    CONVERTED = 3
    """What is given under this name a cycle later."""


class LineSourceSignature(wiring.Signature):
    """Lines that the scratchpad's line port shows though they come from elsewhere.

    The choice between its banks has inputs to spare; a choice behind it would take a LUT a bit.

    Members
    -------
    source : ``Out(LineSource)``
        Which.
    loaded, converted : ``Out(128)``
        The others.
    """

    def __init__(self) -> None:
        super().__init__({
            "source": Out(LineSource),
            "loaded": Out(8 * LINE_BYTES),
            "converted": Out(8 * LINE_BYTES),
        })


class LinePortSignature(wiring.Signature):
    """Accesses to lines of the scratchpad, as their source sees them.

    Members
    -------
    accesses : ``Out(stream.Signature(LINE_ACCESS))``
        Reads and writes.
    read_data : ``In(128)``
        Line of the read that was taken `LINE_READ_CYCLES` ago.
    """

    def __init__(self) -> None:
        super().__init__({
            "accesses": Out(stream.Signature(LINE_ACCESS)),
            "read_data": In(8 * LINE_BYTES),
        })


class ConversionSignature(wiring.Signature):
    """A transfer through the `FloatConverter`, as the `TransferUnit` sees it.

    Members
    -------
    is_active : ``Out(1)``
        The transfer may go on.
    is_store, is_table : ``Out(1)``
        What it is; stable from some cycles before ``is_active`` until the transfer is complete.
    has_beat : ``Out(1)``
        A word from DRAM is there, and has been since the cycle before.
    has_room : ``Out(1)``
        As of `StoreSignature`.
    is_last : ``Out(1)``
        One word of DRAM is left.
    accepts : ``Out(1)``
        The scratchpad takes the access.
    takes_beat : ``In(1)``
        The word from DRAM is taken.
    accesses : ``In(1)``
        An access to the scratchpad is wanted: to write ``data`` into the words of ``mask``, or to
        read.
    mask : ``In(4)``
        Words of the line that are written.
    data : ``In(32)``
        What is written.
    ends_line : ``In(1)``
        The access is the line's last.
    ends_beat : ``In(1)``
        A word of DRAM is done with.
    gives_beat : ``In(1)``
        What the scratchpad's line port shows is to be stored.
    """

    def __init__(self) -> None:
        super().__init__({
            "is_active": Out(1),
            "is_store": Out(1),
            "is_table": Out(1),
            "has_beat": Out(1),
            "has_room": Out(1),
            "is_last": Out(1),
            "accepts": Out(1),
            "takes_beat": In(1),
            "accesses": In(1),
            "mask": In(LINE_BYTES // FLOAT_BYTES),
            "data": In(8 * FLOAT_BYTES),
            "ends_line": In(1),
            "ends_beat": In(1),
            "gives_beat": In(1),
        })


class StoreSignature(wiring.Signature):
    """What goes to a `DmaWriter`, as its source sees it.

    Members
    -------
    beats : ``Out(stream.Signature(WRITE_BEAT, always_ready=True))``
        What to store: as many as were requested, none before the request was taken.
    has_room : ``In(1)``
        `DmaWriter.ROOM` more beats may come, whatever happens.
    is_idle : ``In(1)``
        No request is under way: the port has accepted the last one's last data.
    """

    def __init__(self) -> None:
        super().__init__({
            "beats": Out(stream.Signature(WRITE_BEAT, always_ready=True)),
            "has_room": In(1),
            "is_idle": In(1),
        })


class RangeSettingSignature(wiring.Signature):
    """Sets one of the `ProtectionRanges`.

    Members
    -------
    sets : ``Out(1)``
        A range becomes ``range``.
    sets_arena : ``Out(1)``
        The arena's, not the Program's.
    range : ``Out(WORD_RANGE)``
        First word, and number of words; while no request is waiting.
    """

    def __init__(self) -> None:
        super().__init__({"sets": Out(1), "sets_arena": Out(1), "range": Out(WORD_RANGE)})
