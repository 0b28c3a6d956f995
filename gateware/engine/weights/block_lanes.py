"""All lanes of the decoder of blocks, and the order of the bytes that they give."""

from amaranth import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES, BLOCK_LANES, BLOCK_STEP_BYTES, NIBBLE_BITS, QUADS
from kiwicha.gateware.engine.weights.block_lane import WIDTHS_WRITE, BlockLane
from kiwicha.gateware.engine.weights.chunk_turns import ChunkTurns

__all__ = ["BlockLanes"]


class BlockLanes(wiring.Component):
    """Lanes that step together and get beats one after the other.

    `ChunkTurns` says in which order. Lanes go on while they can.

    Latency: 2 cycles with ``advances`` from ``steps`` to ``values``. Throughput: a beat per cycle;
    a step per cycle, if no more than that is needed.

    Members
    -------
    table : ``In(WIDTHS_WRITE)``
        Sets a pair in all lanes.
    beats : ``In(stream.Signature(128))``
        Beats; ready while a lane waits for one.
    ask : ``In(1)``
        All lanes ask. Only while none is waiting.
    restart : ``In(1)``
        All lanes begin with the beat that they got. Only while none is waiting.
    wants_step : ``In(1)``
        A step is wanted.
    advances : ``In(1)``
        What was decoded moves on, and a step is possible.
    steps : ``Out(1)``
        It is done.
    values : ``Out(256)``
        The bytes of a step, in order.
    is_waiting : ``Out(1)``
        A lane waits for a beat.
    is_over : ``In(1)``
        No beat comes any more.
    drop : ``In(1)``
        Wait for nothing. Only with ``is_over``.
    is_stuck : ``Out(1)``
        The next step needs a beat that a lane waits for.
    """

    def __init__(self) -> None:
        super().__init__({
            "table": In(WIDTHS_WRITE),
            "beats": In(stream.Signature(8 * BEAT_BYTES)),
            "ask": In(1),
            "restart": In(1),
            "wants_step": In(1),
            "advances": In(1),
            "steps": Out(1),
            "values": Out(8 * BLOCK_STEP_BYTES),
            "is_waiting": Out(1),
            "is_over": In(1),
            "drop": In(1),
            "is_stuck": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the lanes and what serves them."""
        m = Module()
        lanes = [BlockLane() for _ in range(BLOCK_LANES)]
        for number, lane in enumerate(lanes):
            m.submodules[f"lane_{number}"] = lane
        m.submodules.turns = turns = ChunkTurns(lanes=BLOCK_LANES)
        asks = Cat(lane.asks for lane in lanes)
        # Byte 8 p + q is byte p of quad q.
        octets = [
            lanes[quad % BLOCK_LANES].value.word_select(
                quad // BLOCK_LANES * NIBBLE_BITS + place, 8
            )
            for place in range(NIBBLE_BITS)
            for quad in range(QUADS * BLOCK_LANES)
        ]
        m.d.comb += [
            turns.ask.eq(self.ask),
            turns.is_valid.eq(self.beats.valid),
            turns.asking.eq(asks & self.steps.replicate(BLOCK_LANES)),
            self.beats.ready.eq(turns.is_ready),
            self.is_waiting.eq(turns.is_ready),
            turns.is_over.eq(self.is_over),
            turns.drop.eq(self.drop),
            self.is_stuck.eq((turns.waiting & asks).any()),
            self.steps.eq(self.wants_step & ~self.is_stuck & turns.may_step & self.advances),
            self.values.eq(Cat(octets)),
        ]
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.table.eq(self.table),
                lane.beat.eq(self.beats.payload),
                lane.load.eq(turns.load[number]),
                lane.restart.eq(self.restart),
                lane.step.eq(self.steps),
                lane.advances.eq(self.advances),
            ]
        return m
