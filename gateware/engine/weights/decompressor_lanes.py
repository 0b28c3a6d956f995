"""All lanes of the decompressor, and the order in which they get chunks."""

from amaranth import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import CHUNK_BITS, FIRST_OFFSETS, LANES
from kiwicha.gateware.engine.weights.chunk_turns import ChunkTurns
from kiwicha.gateware.engine.weights.decompressor_lane import TABLE_WRITE, DecompressorLane

__all__ = ["DecompressorLanes"]


class DecompressorLanes(wiring.Component):
    """Lanes that step together and get chunks one after the other.

    `ChunkTurns` says in which order. Lanes go on while they can.

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
        """Build the lanes and what serves them."""
        m = Module()
        lanes = [DecompressorLane(first_offset=offset) for offset in FIRST_OFFSETS]
        for number, lane in enumerate(lanes):
            m.submodules[f"lane_{number}"] = lane
        m.submodules.turns = turns = ChunkTurns(lanes=LANES)
        is_blocked = Signal()
        m.d.comb += [
            turns.ask.eq(self.ask),
            turns.is_valid.eq(self.chunks.valid),
            turns.asking.eq(Cat(lane.asks for lane in lanes) & self.steps.replicate(LANES)),
            self.chunks.ready.eq(turns.is_ready),
            self.is_waiting.eq(turns.waiting.any()),
            is_blocked.eq((turns.waiting & Cat(lane.is_blocked for lane in lanes)).any()),
            self.steps.eq(self.wants_step & ~is_blocked & turns.may_step),
            self.values.eq(Cat(lane.value for lane in lanes)),
        ]
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.table.eq(self.table),
                lane.chunk.eq(self.chunks.payload),
                lane.load.eq(turns.load[number]),
                lane.restart.eq(self.restart),
                lane.step.eq(self.steps),
            ]
        return m
