"""The largest byte of a row."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.latencies import SOFTMAX_SCAN_BYTES

__all__ = ["RowMaximum"]


class RowMaximum(wiring.Component):
    """The largest of the int8 that came since the first ones of a row.

    Latency: 2 cycles from bytes to a ``maximum`` that contains them. Throughput:
    `SOFTMAX_SCAN_BYTES` bytes per cycle.

    Members
    -------
    valid : ``In(1)``
        There are bytes.
    is_first : ``In(1)``
        They are the first ones of their row.
    counts : ``In(SOFTMAX_SCAN_BYTES)``
        Which of them count.
    octets : ``In(8 * SOFTMAX_SCAN_BYTES)``
        The bytes, int8.
    maximum : ``Out(8)``
        The largest, plus 128.
    """

    def __init__(self) -> None:
        super().__init__({
            "valid": In(1),
            "is_first": In(1),
            "counts": In(SOFTMAX_SCAN_BYTES),
            "octets": In(8 * SOFTMAX_SCAN_BYTES),
            "maximum": Out(8),
        })

    def elaborate(self, platform: object) -> Module:
        """Build a tree of comparisons, with registers in its middle."""
        m = Module()
        octets: list[Value] = []
        for k in range(SOFTMAX_SCAN_BYTES):
            octet = self.octets.word_select(k, 8)
            # 0 is the smallest: as good as none.
            octets.append(Mux(self.counts[k], Cat(octet[:7], ~octet[7]), 0))
        valid_s1, is_first_s1 = Signal(), Signal()
        m.d.sync += [valid_s1.eq(self.valid), is_first_s1.eq(self.is_first)]
        half = SOFTMAX_SCAN_BYTES // 2
        halves = []
        for number, part in enumerate((octets[:half], octets[half:])):
            largest = Signal(8, name=f"largest_s1_{number}", reset_less=True)
            m.d.sync += largest.eq(_largest(part))
            halves.append(largest)
        both = Signal(8)
        m.d.comb += both.eq(_largest(halves))
        with m.If(valid_s1 & (is_first_s1 | (both > self.maximum))):
            m.d.sync += self.maximum.eq(both)
        return m


def _largest(octets: list[Value] | list[Signal]) -> Value:
    """Return the largest of some bytes, compared in pairs."""
    if len(octets) == 1:
        return octets[0]
    half = len(octets) // 2
    low, high = _largest(octets[:half]), _largest(octets[half:])
    return Mux(low > high, low, high)
