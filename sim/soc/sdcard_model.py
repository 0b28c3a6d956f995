"""A model of an SD card in SPI mode, for the simulation.

Notes
-----
Ref: SD Specifications Part 1, Physical Layer Simplified Specification, version 4.10, section 7.
"""

import enum
import math
from typing import Any

from litex.gen import LiteXModule
from migen import Case, Cat, Constant, If, Memory, Mux, Record, Signal

from kiwicha.contract.sdcard import SDCARD_BLOCK_BYTES, SDCARD_START_HZ
from kiwicha.sim.soc.sdcard_line import IDLE, ByteLine, crc_with
from kiwicha.sim.soc.sdcard_settings import SDCARD_SETTINGS, CardFault, CardKind

__all__ = ["SDCARD_CONTENTS", "SDCARD_MODEL_BYTES", "SdcardModel"]

SDCARD_CONTENTS = "sdcard_contents"
"""Name of its memory. The simulator reads the contents, a byte in hexadecimal digits per line, from
``soc_sdcard_contents.init`` in the folder where it runs."""
SDCARD_MODEL_BYTES = 1 << 19
"""Its capacity."""

_PADS = [("clk", 1), ("cs_n", 1), ("mosi", 1), ("miso", 1)]
_BLOCKS = SDCARD_MODEL_BYTES // SDCARD_BLOCK_BYTES
_MOST_HZ = 25_000_000
_POWER_UP_CLOCKS = 74
_COMMAND_BYTES = 6
_ACCESS_BYTES = 3
"""Between the answer to a read and its block."""
_START_TOKEN, _OUT_OF_RANGE, _FAILED = 0xFE, 0x08, 0x04
_VOLTAGES = 0x00FF8000
_CRC7, _CRC16 = 0x09, 0x1021


class _Phase(enum.IntEnum):
    LISTENS = 0
    OBEYS = 1
    ANSWERS = 2
    SEEKS = 3
    SENDS = 4
    SENDS_CRC = 5


class SdcardModel(LiteXModule):
    """An SD card that can be read by blocks. It ignores whom it does not hear as the rules say.

    Its clock must be high and low for two cycles of the system at least.

    Parameters
    ----------
    sys_clk_hz : int
        Of the system: clocks that are too fast are seen by it.

    Members
    -------
    pads : Record
        ``clk``, ``cs_n``, ``mosi`` and ``miso``.
    """

    def __init__(self, sys_clk_hz: int) -> None:
        self.pads = pads = Record(_PADS)
        self.line = line = ByteLine(pads)
        settings = Memory(32, 2, init=[0], name=SDCARD_SETTINGS)
        setting = settings.get_port(async_read=True)
        contents = Memory(8, SDCARD_MODEL_BYTES, init=[0], name=SDCARD_CONTENTS)
        self._stored = stored = contents.get_port()
        self.specials += settings, setting, contents, stored
        self._kind, self._fault, self._bad_block = Signal(8), Signal(8), Signal(16)
        self.comb += Cat(self._kind, self._fault, self._bad_block).eq(setting.dat_r)

        self._phase = phase = Signal(max=len(_Phase))
        self._count = count = Signal(10)
        self._command = Signal(8 * _COMMAND_BYTES)
        self._crc7 = Signal(7)
        self._is_spi, self._is_idle = Signal(), Signal(reset=1)
        self._is_mute = Signal()
        self._add_clock_check(sys_clk_hz)

        self._answer, self._answer_bytes = Signal(40), Signal(3)
        self._reads = Signal()
        self._block = Signal(32)
        self._crc16 = Signal(16)
        self._has_spoiled = Signal()
        self.comb += stored.adr.eq(Cat(count[: _bits(SDCARD_BLOCK_BYTES)], self._block))
        obeys = self._obey()
        self.sync += If(
            phase == _Phase.OBEYS,
            *obeys,
        ).Elif(
            line.received,
            Case(
                phase,
                {
                    _Phase.LISTENS: self._listen(),
                    _Phase.ANSWERS: self._send_answer(),
                    _Phase.SEEKS: self._seek(),
                    _Phase.SENDS: self._send_block(),
                    _Phase.SENDS_CRC: self._send_crc(),
                },
            ),
        )
        has_started = Signal()
        self.sync += [
            has_started.eq(1),
            If(
                ~has_started & (self._fault == CardFault.HALF_READ),
                self._is_spi.eq(1),
                self._is_idle.eq(0),
                phase.eq(_Phase.SENDS),
            ),
        ]

    def _add_clock_check(self, sys_clk_hz: int) -> None:
        slow, fast = (math.ceil(sys_clk_hz / hz) for hz in (SDCARD_START_HZ, _MOST_HZ))
        since = Signal(max=slow + 1, reset=slow)
        clocks = Signal(max=_POWER_UP_CLOCKS + 1)
        least = Mux(self._is_idle, slow, fast)
        self.sync += [
            If(
                self.line.rises,
                since.eq(1),
                If(since < least, self._is_mute.eq(1)),
                If(self.pads.cs_n & (clocks != _POWER_UP_CLOCKS), clocks.eq(clocks + 1)),
                If(
                    ~self.pads.cs_n & ~self._is_spi & (clocks != _POWER_UP_CLOCKS),
                    self._is_mute.eq(1),
                ),
            ).Elif(since != slow, since.eq(since + 1)),
        ]

    def _listen(self) -> list[Any]:
        byte, count = self.line.byte, self._count
        is_start = (count == 0) & (byte[6:] == 0b01)
        before = Mux(count == 0, 0, self._crc7)
        return [
            If(
                is_start | (count != 0),
                self._command.eq(Cat(byte, self._command)),
                If(
                    count == _COMMAND_BYTES - 1,
                    self._phase.eq(_Phase.OBEYS),
                    count.eq(0),
                ).Else(count.eq(count + 1), self._crc7.eq(self._crc7_with(before))),
            )
        ]

    def _crc7_with(self, before: Any) -> Any:
        value = Signal(7)
        self.comb += value.eq(before)
        return crc_with(value, self.line.byte, _CRC7)

    def _obey(self) -> list[Any]:
        """Return what a command does, a cycle after its last byte."""
        number, argument = Signal(6), Signal(32)
        checks_crc, knows_capacities, is_application = Signal(), Signal(), Signal()
        has_length = Signal()
        is_wrong, is_illegal = Signal(), Signal()
        is_misplaced = Signal()
        self.comb += [
            number.eq(self._command[40:46]),
            argument.eq(self._command[8:40]),
            is_wrong.eq(
                (self._command[1:8] != self._crc7)
                & (checks_crc | (number == 8) | ((number == 0) & ~self._is_spi))
            ),
        ]
        kind, is_idle = self._kind, self._is_idle
        is_high = kind == CardKind.HIGH
        first, more = Signal(8), Signal(32)
        status = Cat(is_idle, 0, is_illegal, is_wrong, 0, is_misplaced)
        self.comb += first.eq(Mux(number == 0, 1, status))
        self.comb += [
            Case(
                number,
                {
                    0: [],
                    8: [
                        is_illegal.eq(kind == CardKind.STANDARD_1),
                        more.eq(argument[:12]),
                        If(self._fault == CardFault.VOLTAGE, more.eq(argument[:8])),
                    ],
                    16: is_illegal.eq(is_idle),
                    17: [
                        is_illegal.eq(is_idle),
                        is_misplaced.eq(
                            ~is_high & ((argument[: _bits(SDCARD_BLOCK_BYTES)] != 0) | ~has_length)
                        ),
                    ],
                    41: is_illegal.eq(~is_application | (kind == CardKind.OTHER)),
                    55: is_illegal.eq(kind == CardKind.OTHER),
                    58: more.eq(Cat(Constant(_VOLTAGES, 30), is_high & ~is_idle, ~is_idle)),
                    59: [],
                    "default": is_illegal.eq(1),
                },
            ),
        ]
        is_good = ~is_wrong & ~is_illegal & ~is_misplaced
        becomes_ready = (~is_high | (argument[30] & knows_capacities)) & (
            self._fault != CardFault.NEVER_READY
        )
        acts: dict[Any, Any] = {
            0: [self._is_spi.eq(1), is_idle.eq(1), checks_crc.eq(0), knows_capacities.eq(0)],
            8: knows_capacities.eq(1),
            16: has_length.eq(argument == SDCARD_BLOCK_BYTES),
            17: [
                self._reads.eq(1),
                self._block.eq(Mux(is_high, argument, argument[_bits(SDCARD_BLOCK_BYTES) :])),
            ],
            # Not at the first time.
            41: If(becomes_ready & self._has_asked(), is_idle.eq(0)),
            59: checks_crc.eq(argument[0]),
        }
        hears = ~self._is_mute & (kind != CardKind.NONE) & (self._is_spi | (number == 0))
        has_more = (number == 8) | (number == 58)
        return [
            self._phase.eq(_Phase.LISTENS),
            self._reads.eq(0),
            is_application.eq(number == 55),
            If(
                hears & ~(is_wrong & ~self._is_spi),
                self._answer.eq(Cat(more, first)),
                self._answer_bytes.eq(Mux(has_more & is_good, 5, 1)),
                self._phase.eq(_Phase.ANSWERS),
                If(is_good, Case(number, acts)),
            ),
            If(
                is_good & (number == 41) & becomes_ready & self._asked,
                # The answer is of the state afterwards.
                self._answer[32].eq(0),
            ),
        ]

    def _has_asked(self) -> Any:
        self._asked = Signal()
        self.sync += If(
            (self._phase == _Phase.OBEYS) & (self._command[40:46] == 41), self._asked.eq(1)
        )
        return self._asked

    def _send_answer(self) -> list[Any]:
        return [
            self.line.sent.eq(self._answer[32:]),
            self._answer.eq(self._answer << 8),
            self._answer_bytes.eq(self._answer_bytes - 1),
            If(
                self._answer_bytes == 1,
                self._phase.eq(Mux(self._reads, _Phase.SEEKS, _Phase.LISTENS)),
                self._count.eq(0),
            ),
        ]

    def _seek(self) -> list[Any]:
        is_bad = self._block == self._bad_block
        return [
            self._count.eq(self._count + 1),
            If(
                self._count == _ACCESS_BYTES,
                self._count.eq(0),
                self._crc16.eq(0),
                self._phase.eq(_Phase.SENDS),
                self.line.sent.eq(_START_TOKEN),
                If(
                    self._block >= _BLOCKS,
                    self._phase.eq(_Phase.LISTENS),
                    self.line.sent.eq(_OUT_OF_RANGE),
                )
                .Elif(
                    is_bad & (self._fault == CardFault.ERROR),
                    self._phase.eq(_Phase.LISTENS),
                    self.line.sent.eq(_FAILED),
                )
                .Elif(
                    is_bad & (self._fault == CardFault.SILENT),
                    self._phase.eq(_Phase.LISTENS),
                    self.line.sent.eq(IDLE),
                ),
            ),
        ]

    def _send_block(self) -> list[Any]:
        return [
            self.line.sent.eq(self._stored.dat_r),
            self._crc16.eq(crc_with(self._crc16, self._stored.dat_r, _CRC16)),
            self._count.eq(self._count + 1),
            If(
                self._count == SDCARD_BLOCK_BYTES - 1,
                self._count.eq(0),
                self._phase.eq(_Phase.SENDS_CRC),
            ),
        ]

    def _send_crc(self) -> list[Any]:
        spoils = (self._block == self._bad_block) & (
            (self._fault == CardFault.CRC)
            | ((self._fault == CardFault.CRC_ONCE) & ~self._has_spoiled)
        )
        return [
            self.line.sent.eq(self._crc16[8:] ^ spoils),
            self._crc16.eq(self._crc16 << 8),
            self._count.eq(self._count + 1),
            If(
                self._count == 1,
                self._count.eq(0),
                self._phase.eq(_Phase.LISTENS),
                If(spoils, self._has_spoiled.eq(1)),
            ),
        ]


def _bits(count: int) -> int:
    return (count - 1).bit_length()
