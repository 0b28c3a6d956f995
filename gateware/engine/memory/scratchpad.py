"""On-chip memory of the engine: unaligned reads on one port, masked writes on the other."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from kiwicha.contract.engine import LINE_BYTES
from kiwicha.gateware.engine.descriptors import BYTE_BITS
from kiwicha.gateware.engine.memory.interfaces import LineSourceSignature

__all__ = ["Scratchpad"]

_UNIT_BYTES = 1024
_MAX_BYTES = 256 * 1024


class Scratchpad(wiring.Component):
    """Bytes in two banks of 16-byte lines, even lines in one and odd lines in the other.

    The two lines that an unaligned read touches are in different banks, so it takes one access.

    Port ``read``: latency `SCRATCHPAD_READ_CYCLES`, one read per cycle, any alignment. Addresses
    wrap at the size, or if that is not a power of two, at the next one: bytes between them are
    unspecified, and writes to them change nothing.
    Port ``line``: one access per cycle, a write or a read; a read's latency is `LINE_READ_CYCLES`.
    A write is seen by reads of both ports that start in a later cycle; a line read, or an unaligned
    read whose memory access (one cycle after its address) falls in the cycle of the write, returns
    what was there before.

    With ``spans_lines`` a write can change bytes of the next line as well.

    With ``has_second`` port ``second`` reads as port ``read`` does, from a copy of the banks.

    Memory is all zeros after configuration.

    Parameters
    ----------
    size_bytes : int
        A multiple of 1024 up to 262144.
    spans_lines : bool
        There is ``next_mask``.
    has_second : bool
        There is port ``second``.

    Members
    -------
    read_address : ``In(range(size_bytes))``
        First byte of an unaligned read, in every cycle.
    read_data : ``Out(128)``
        Bytes address to address + 15; the byte at the address is the least significant.
    second_address, second_data
        Only with ``has_second``: the same of the second port.
    line_address : ``In(range(size_bytes // 16))``
        Line of the other port's access.
    line_write : ``In(1)``
        The access is a write.
    line_mask : ``In(16)``
        Bytes that a write changes.
    next_mask : ``In(16)``
        Only with ``spans_lines``: bytes of the next line that it changes.
    line_write_data : ``In(128)``
        What it changes them to: byte k of either line to byte k.
    line_read_data : ``Out(128)``
        The line addressed two cycles ago; unspecified if that access was a write.
    others : ``In(LineSourceSignature())``
        What ``line_read_data`` shows instead.
    bank_lines : ``Out(ArrayLayout(128, 2))``
        Of the bank of even lines and that of odd ones: the line addressed in the cycle before, and
        some other one of the other bank; unspecified if that access was a write. ``others`` has no
        effect on them.

    Raises
    ------
    ValueError
        If ``size_bytes`` is not such a number.
    """

    def __init__(
        self, *, size_bytes: int, spans_lines: bool = False, has_second: bool = False
    ) -> None:
        is_valid = isinstance(size_bytes, int) and 0 < size_bytes <= _MAX_BYTES
        if not is_valid or size_bytes % _UNIT_BYTES:
            raise ValueError(
                f"size_bytes must be a multiple of {_UNIT_BYTES} up to {_MAX_BYTES},"
                f" not {size_bytes!r}"
            )
        self.size_bytes = size_bytes
        self.lines = size_bytes // LINE_BYTES
        self.spans_lines = spans_lines
        self.has_second = has_second
        second = {"second_address": In(range(size_bytes)), "second_data": Out(8 * LINE_BYTES)}
        super().__init__({
            **(second if has_second else {}),
            **({"next_mask": In(LINE_BYTES)} if spans_lines else {}),
            "read_address": In(range(size_bytes)),
            "read_data": Out(8 * LINE_BYTES),
            "line_address": In(range(self.lines)),
            "line_write": In(1),
            "line_mask": In(LINE_BYTES),
            "line_write_data": In(8 * LINE_BYTES),
            "line_read_data": Out(8 * LINE_BYTES),
            "others": In(LineSourceSignature()),
            "bank_lines": Out(data.ArrayLayout(8 * LINE_BYTES, 2)),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the banks, the rotation of port ``read`` and the choice of port ``line``."""
        m = Module()
        index_s1, rotation_s2 = self._places(m, self.read_address, "")
        line_read_data = Signal(8 * LINE_BYTES, name="line_read_data_s2", reset_less=True)
        source = Value.cast(self.others.source)
        source_s1 = Signal(2, reset_less=True)
        m.d.sync += source_s1.eq(Mux(source[1], source, self.line_address[0]))
        unaligned_s2, lines_s1 = [], []
        writes = []
        for bank in range(2):
            m.submodules[f"bank_{bank}"] = memory = Memory(
                shape=8 * LINE_BYTES, depth=self.lines // 2, init=[]
            )
            read = memory.read_port()
            line_read = memory.read_port()
            line_write = memory.write_port(granularity=8)
            is_selected = self.line_address[0] == bank
            enables: Value = Mux(self.line_write & is_selected, self.line_mask, 0)
            line_index: Value = self.line_address[1:]
            if self.spans_lines:
                mask = Mux(is_selected, self.line_mask, self.next_mask)
                enables = Mux(self.line_write, mask, 0)
                # The line behind an odd one is the next even one.
                line_index = (line_index + self.line_address[0])[:-1] if bank == 0 else line_index
            m.d.comb += [
                read.addr.eq(index_s1[bank]),
                read.en.eq(1),
                line_read.addr.eq(line_index),
                line_read.en.eq(1),
                line_write.addr.eq(line_index),
                line_write.data.eq(self.line_write_data),
                line_write.en.eq(enables),
            ]
            writes.append(line_write)
            unaligned_s2.append(read.data)
            lines_s1.append(line_read.data)
            m.d.comb += self.bank_lines[bank].eq(line_read.data)
        read_data = self._rotate(m, unaligned_s2, rotation_s2, "")
        lines_s1 += [self.others.loaded, self.others.converted]
        low, high = (Mux(source_s1[0], lines_s1[k + 1], lines_s1[k]) for k in (0, 2))
        m.d.sync += line_read_data.eq(Mux(source_s1[1], high, low))
        m.d.comb += [self.read_data.eq(read_data), self.line_read_data.eq(line_read_data)]
        if self.has_second:
            self._read_second(m, writes)
        return m

    def _places(self, m: Module, address: Value, port: str) -> tuple[list[Signal], Signal]:
        """Return where each bank is read for an address, and how far what is there rotates."""
        line = address[BYTE_BITS:]
        index_s1 = [
            Signal(range(self.lines // 2), name=f"{port}index_s1_{bank}", reset_less=True)
            for bank in range(2)
        ]
        rotation_s1, rotation_s2 = (
            Signal(5, name=f"{port}rotation_s{stage}", reset_less=True) for stage in (1, 2)
        )
        # A read that starts in an odd line continues in the next even one.
        m.d.sync += [
            index_s1[0].eq(line[1:] + line[0]),
            index_s1[1].eq(line[1:]),
            rotation_s1.eq(address[: BYTE_BITS + 1]),
            rotation_s2.eq(rotation_s1),
        ]
        return index_s1, rotation_s2

    def _rotate(self, m: Module, lines_s2: list[Value], rotation_s2: Signal, port: str) -> Signal:
        """Return the bytes of an unaligned read."""
        read_data = Signal(8 * LINE_BYTES, name=f"{port}read_data_s3", reset_less=True)
        m.d.sync += read_data.eq(_rotated(Cat(*lines_s2), rotation_s2))
        return read_data

    def _read_second(self, m: Module, writes: list[Any]) -> None:
        """Build the copy of the banks, which all writes go to, and its reads."""
        index_s1, rotation_s2 = self._places(m, self.second_address, "second_")
        lines_s2 = []
        for bank, line_write in enumerate(writes):
            m.submodules[f"copy_{bank}"] = memory = Memory(
                shape=8 * LINE_BYTES, depth=self.lines // 2, init=[]
            )
            read, write = memory.read_port(), memory.write_port(granularity=8)
            m.d.comb += [
                read.addr.eq(index_s1[bank]),
                read.en.eq(1),
                write.addr.eq(line_write.addr),
                write.data.eq(line_write.data),
                write.en.eq(line_write.en),
            ]
            lines_s2.append(read.data)
        m.d.comb += self.second_data.eq(self._rotate(m, lines_s2, rotation_s2, "second_"))


def _rotated(lines: Value, rotation: Signal) -> Value:
    """Return 16 of 32 bytes from byte ``rotation`` on, modulo 32."""
    octets = Cat(lines, lines)
    # Levels of four inputs fill a LUT6; each keeps the bytes that the later ones can reach.
    for low, kept_bytes in ((3, 23), (1, 17)):
        options = [octets[(8 << low) * k :][: 8 * kept_bytes] for k in range(4)]
        upper = Mux(rotation[low], options[3], options[2])
        lower = Mux(rotation[low], options[1], options[0])
        octets = Mux(rotation[low + 1], upper, lower)
    return Mux(rotation[0], octets[8:], octets[:-8])
