"""The contract of the serial line to a board: frames, operations, and the loader's place.

A frame is COBS-coded and ends with a zero byte, so that a receiver finds the next frame whatever
came before. Decoded, it is a body and the body's CRC-32 (that of zlib), least significant byte
first; what does not decode or match is dropped without an answer. The body of a request is its
number, a `SerialOp` and that operation's fields; that of an answer the request's number, a
`SerialStatus` and data. Every operation can be repeated: a host that gets no answer asks again.
Requests are answered in their order, and as many may be under way as `SerialOp.LIMITS` says.

Two answer: the loader, which runs on the CPU of a system, and the bring-up design, which has a
custom function unit and no CPU. Each has operations of its own and calls those of the other
`SerialStatus.BAD_OP`.
"""

import enum
from dataclasses import dataclass

from kiwicha.contract.layout import Struct, u32

__all__ = [
    "LOADER_BYTES",
    "NO_STATUS",
    "SERIAL_BAUD",
    "SERIAL_DATA_BYTES",
    "SERIAL_FRAME_BYTES",
    "SERIAL_INSTRUCTIONS",
    "SERIAL_MAGIC",
    "SERIAL_VERSION",
    "SERIAL_WINDOW_BYTES",
    "SerialHello",
    "SerialInstruction",
    "SerialOp",
    "SerialStatus",
]

SERIAL_MAGIC = int.from_bytes(b"KIWS", "little")
SERIAL_VERSION = 1
SERIAL_BAUD = 1_000_000
SERIAL_DATA_BYTES = 1024
"""Most data of one frame."""
# Number, operation or status, address, data, CRC; COBS adds a byte per 254, and the zero ends it.
_BODY_BYTES = 2 + 4 + SERIAL_DATA_BYTES + 4
SERIAL_FRAME_BYTES = _BODY_BYTES + _BODY_BYTES // 254 + 2
SERIAL_WINDOW_BYTES = 4096
"""Bytes of requests, coded, that the loader keeps while it is busy: they may be under way."""
SERIAL_INSTRUCTIONS = 64
"""Most instructions of one `SerialOp.EXECUTE`."""
LOADER_BYTES = 16 * 1024
"""Last part of DRAM: the loader that answers requests, which no request may write."""
NO_STATUS = 0xFFFF_FFFF
"""In place of a `kiwicha.contract.cfu.Status`: no firmware has run since reset."""


class SerialOp(enum.IntEnum):
    """What a request asks for; addresses and counts are 32 bits, least significant byte first."""

    HELLO = 1
    """Answers `SerialHello`."""
    READ = 2
    """Address, count of `SERIAL_DATA_BYTES` at most. Answers that many bytes."""
    WRITE = 3
    """Address, data. Stores it in DRAM."""
    CHECK = 4
    """Address, count. Answers the CRC-32 of that many bytes."""
    RUN = 5
    """Address, count. Answers, copies firmware to on-chip memory and starts it. There is no answer
    to other requests until it ends."""
    EXECUTE = 6
    """Bring-up. 1 to `SERIAL_INSTRUCTIONS` times `SerialInstruction`. The custom function unit
    executes them without a pause between them; answers a word for each. A request with the number
    of the one before it is a repetition, and gets the same answer without being executed again."""
    RESET = 7
    """Bring-up. Resets the custom function unit; no request counts as the one before."""
    SHOW = 8
    """Bring-up. A word, whose bits light the board's lamps: 1 "passed", 2 "failed"."""
    LIMITS = 9
    """Answers a word: how many bytes of requests may be under way, coded and with the zeros between
    them. Where it is a `SerialStatus.BAD_OP`, one request may."""


class SerialStatus(enum.IntEnum):
    """How a request ended."""

    OK = 0
    BAD_OP = 1
    """The operation is unknown, or has other fields."""
    BAD_BOUNDS = 2
    """The bytes are not where the operation may touch them."""
    NO_RESPONSE = 3
    """The custom function unit left an instruction unanswered; it must be reset."""


@dataclass(frozen=True)
class SerialHello(Struct):
    """What a board says of itself."""

    magic: int = u32("SERIAL_MAGIC")
    version: int = u32("SERIAL_VERSION")
    config_hash: int = u32("configuration that the CFU was built for")
    sys_clk_hz: int = u32("cycles per second")
    dram_bytes: int = u32("bytes from DRAM_BASE on for requests and Programs; 0 without a CPU")
    last_status: int = u32("Status of the firmware that ran last, or NO_STATUS")
    runs: int = u32("how many times firmware was started since reset")


@dataclass(frozen=True)
class SerialInstruction(Struct):
    """A custom instruction of `SerialOp.EXECUTE`."""

    function_id: int = u32("kiwicha.contract.cfu.function_id")
    inputs_0: int = u32("first operand")
    inputs_1: int = u32("second operand")
