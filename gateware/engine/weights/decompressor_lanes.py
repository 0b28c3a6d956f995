"""All lanes of the decompressor, and the order in which they get chunks."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import CHUNK_BITS, FIRST_OFFSETS, LANES
from kiwicha.gateware.engine.weights.decompressor_lane import TABLE_WRITE, DecompressorLane

__all__ = ["DecompressorLanes"]


class DecompressorLanes(wiring.Component):
    """Lanes that step together and get chunks one after the other.

    Those that ask in one step are served in their order, before those that ask in later steps. A
    second step may ask while the first is being served; lanes go on while they can.

    Throughput: a chunk per cycle; a step per cycle, if no more than that is needed.

    Members
    -------
    table : ``In(TABLE_WRITE)``
        Sets an entry in all lanes.
    chunks : ``In(stream.Signature(CHUNK_BITS))``
        Chunks; ready while a lane waits for one.
    ask : ``In(1)``
        All lanes ask. Only while none is waiting.
    restart : ``In(1)``
        All lanes begin with the chunk that they got. Only while none is waiting.
    wants_step : ``In(1)``
        A step is wanted.
    steps : ``Out(1)``
        It is done.
    values : ``Out(8 * LANES)``
        The bytes of the last step, lane 0 least significant.
    is_waiting : ``Out(1)``
        A lane waits for a chunk.
    """

    def __init__(self) -> None:
        super().__init__({
            "table": In(TABLE_WRITE),
            "chunks": In(stream.Signature(CHUNK_BITS)),
            "ask": In(1),
            "restart": In(1),
            "wants_step": In(1),
            "steps": Out(1),
            "values": Out(8 * LANES),
            "is_waiting": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the lanes and two sets of those that wait: of an earlier and of a later step."""
        m = Module()
        lanes = [DecompressorLane(first_offset=offset) for offset in FIRST_OFFSETS]
        for number, lane in enumerate(lanes):
            m.submodules[f"lane_{number}"] = lane
        earlier, later, left, asking = (
            Signal(LANES, name=name) for name in ("earlier", "later", "left", "asking")
        )
        loads = Signal()
        is_blocked = Signal()
        m.d.comb += [
            self.is_waiting.eq(earlier.any() | later.any()),
            self.chunks.ready.eq(earlier.any()),
            loads.eq(self.chunks.valid & self.chunks.ready),
            left.eq(Mux(loads, earlier & (earlier - 1), earlier)),
            is_blocked.eq(((earlier | later) & Cat(lane.is_blocked for lane in lanes)).any()),
            self.steps.eq(self.wants_step & ~is_blocked & ~(left.any() & later.any())),
            asking.eq(Cat(lane.asks for lane in lanes) & self.steps.replicate(LANES)),
            self.values.eq(Cat(lane.value for lane in lanes)),
        ]
        with m.If(left.any()):
            m.d.sync += [earlier.eq(left), later.eq(later | asking)]
        with m.Elif(later.any()):
            m.d.sync += [earlier.eq(later), later.eq(asking)]
        with m.Else():
            m.d.sync += earlier.eq(asking | self.ask.replicate(LANES))
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.table.eq(self.table),
                lane.chunk.eq(self.chunks.payload),
                lane.load.eq(loads & earlier[number] & ~earlier[:number].any()),
                lane.restart.eq(self.restart),
                lane.step.eq(self.steps),
            ]
        return m
