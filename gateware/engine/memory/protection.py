"""What the engine may touch in DRAM."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.memory.interfaces import (
    GRANT,
    OFFSET_BITS,
    PORT_ADDRESS_BITS,
    RANGE_REQUEST,
    WORD_RANGE,
    RangeSettingSignature,
)

__all__ = ["ProtectionRanges"]


class ProtectionRanges(wiring.Component):
    """Turn offsets into addresses of DRAM, if they lie in their range.

    The Program can be read, the arena read and written. A request outside is never granted: it
    waits for ever, with ``is_outside`` high, until this component is reset. A reset does not change
    the ranges.

    Latency: 3 cycles from a request to its grant. Throughput: one request in 4 cycles; the client
    with the lowest number goes first.

    Parameters
    ----------
    clients : int
        Number of clients, 1 to 8.

    Members
    -------
    setting : ``In(RangeSettingSignature())``
        Sets a range.
    requests : ``In(stream.Signature(RANGE_REQUEST))`` times ``clients``
        Taken together with the grant.
    grants : ``Out(stream.Signature(GRANT))`` times ``clients``
        Addresses of the request.
    is_outside : ``Out(clients)``
        The client's request is refused.

    Attributes
    ----------
    program, arena : Signal
        The ranges, which a reset leaves as they are.

    Raises
    ------
    ValueError
        If ``clients`` is out of range.
    """

    def __init__(self, *, clients: int) -> None:
        if not isinstance(clients, int) or not 1 <= clients <= 8:
            raise ValueError(f"clients must be an integer from 1 to 8, not {clients!r}")
        super().__init__({
            "setting": In(RangeSettingSignature()),
            "requests": In(stream.Signature(RANGE_REQUEST)).array(clients),
            "grants": Out(stream.Signature(GRANT)).array(clients),
            "is_outside": Out(clients),
        })
        self.program, self.arena = (
            Signal(WORD_RANGE, name=name, reset_less=True) for name in ("program", "arena")
        )

    def elaborate(self, platform: object) -> Module:
        """Build the ranges, the choice of a request, its check and its grant."""
        m = Module()
        program, arena = self.program, self.arena
        with m.If(self.setting.sets):
            with m.If(self.setting.sets_arena):
                m.d.sync += arena.eq(self.setting.range)
            with m.Else():
                m.d.sync += program.eq(self.setting.range)

        client = Signal(range(len(self.requests)))
        request = Signal(RANGE_REQUEST)
        allowed = data.View(WORD_RANGE, Mux(request.is_program, program, arena))
        end = Signal(OFFSET_BITS + 1, reset_less=True)
        address, address_end = (
            Signal(PORT_ADDRESS_BITS, name=name, reset_less=True)
            for name in ("address", "address_end")
        )
        with m.Switch(client):
            for number, requests in enumerate(self.requests):
                with m.Case(number):
                    m.d.comb += request.eq(requests.payload)
        for grant in self.grants:
            m.d.comb += [
                grant.payload.address.eq(address),
                grant.payload.words.eq(request.words),
                grant.payload.end.eq(address_end),
            ]
        with m.FSM():
            with m.State("CHOOSE"):
                for number, requests in reversed(list(enumerate(self.requests))):
                    with m.If(requests.valid):
                        m.d.sync += client.eq(number)
                        m.next = "ADD"
            with m.State("ADD"):
                m.d.sync += [
                    end.eq(request.offset + request.words),
                    address.eq(request.offset + allowed.address),
                ]
                m.next = "CHECK"
            with m.State("CHECK"):
                m.d.sync += address_end.eq(address + request.words)
                m.next = "GRANT"
                with m.If((end > allowed.words) | (request.is_write & request.is_program)):
                    m.next = "REFUSE"
            with m.State("GRANT"):
                with m.Switch(client):
                    for number, requests in enumerate(self.requests):
                        with m.Case(number):
                            m.d.comb += [
                                self.grants[number].valid.eq(1),
                                requests.ready.eq(self.grants[number].ready),
                            ]
                            with m.If(requests.ready):
                                m.next = "CHOOSE"
            with m.State("REFUSE"):
                m.d.comb += self.is_outside.eq(1 << client)
        return m
