"""Weights and parameters of jobs, from DRAM to the weight buffer."""

from amaranth import Module, Mux, Signal, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.gateware.engine.job_fetcher import WEIGHTS_JOB
from kiwicha.gateware.engine.mac_array import LANES
from kiwicha.gateware.engine.memory_port import READ_BEAT
from kiwicha.gateware.engine.parameter_memory import PARAMETER_BLOCK
from kiwicha.gateware.engine.weight_buffer import BEAT_BYTES
from kiwicha.gateware.engine.windows import OFFSET_BITS, WINDOW_REQUEST
from kiwicha.isa_engine import GROUP_WORDS, PACKED_MACS, outputs_of

__all__ = ["WeightLoader"]

_FIELDS_PER_BLOCK = 3


class WeightLoader(wiring.Component):
    """Fetch each job's weight stream and fill the weight buffer with it, group by group.

    The size of a stream must be that of its groups, else there is an error: before the group that
    is truncated, or after the last one. The stream of the next job is asked for as soon as the last
    fill of a job is commanded.

    Latency: 1 cycle from a job to its request, 3 from there to the first fill, if the buffer is
    free. Throughput: a beat per cycle.

    Parameters
    ----------
    macs : int
        Products per cycle of the array.

    Members
    -------
    jobs : ``In(stream.Signature(WEIGHTS_JOB))``
        Jobs in order; taken with the command of the last fill.
    requests : ``Out(stream.Signature(WINDOW_REQUEST))``
        What is to be fetched.
    stored : ``In(stream.Signature(READ_BEAT))``
        What was fetched.
    fills, beats, zero_point, is_unsigned, is_table, is_packed
        ``commands`` to ``is_packed`` of the `WeightBuffer`.
    is_idle : ``Out(1)``
        No job is under way.
    is_bad_stream : ``Out(1)``
        The stream of the job in ``jobs`` has a wrong size; stays.
    """

    def __init__(self, *, macs: int) -> None:
        self.macs = macs
        outputs = outputs_of(macs)
        self.has_seconds = macs == PACKED_MACS
        self.blocks = outputs // PARAMETER_BLOCK
        self.beats_per_word = LANES * outputs // BEAT_BYTES
        fill = data.StructLayout({
            "blocks": range(2 * self.blocks + 1),
            "words": range(GROUP_WORDS + 1),
        })
        super().__init__({
            "jobs": In(stream.Signature(WEIGHTS_JOB)),
            "requests": Out(stream.Signature(WINDOW_REQUEST)),
            "stored": In(stream.Signature(READ_BEAT)),
            "fills": Out(stream.Signature(fill)),
            "beats": Out(stream.Signature(8 * BEAT_BYTES)),
            "zero_point": Out(signed(9)),
            "is_unsigned": Out(1),
            "is_table": Out(1),
            "is_packed": Out(1),
            "is_idle": Out(1),
            "is_bad_stream": Out(1),
        })

    def elaborate(self, platform: object) -> Module:
        """Build the walk through jobs and groups."""
        m = Module()
        job = self.jobs.payload
        factor = 2 if self.has_seconds else 1
        most = 2 * _FIELDS_PER_BLOCK * self.blocks + factor * self.beats_per_word * GROUP_WORDS
        beats = job.group_words << (self.beats_per_word - 1).bit_length()
        if self.has_seconds:
            beats = Mux(job.is_packed, beats << 1, beats)
        size = Signal(range(most + 1))
        words_left, groups_left = Signal(OFFSET_BITS), Signal(16)
        blocks = Mux(job.has_double_groups, 2 * self.blocks, self.blocks)
        m.d.comb += [
            self.requests.payload.offset.eq(job.offset),
            self.requests.payload.words.eq(job.words),
            self.requests.payload.is_program.eq(1),
            self.fills.payload.blocks.eq(blocks),
            self.fills.payload.words.eq(job.group_words),
        ]
        self._decode(m)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.is_idle.eq(~self.jobs.valid)
                m.d.sync += [
                    size.eq(
                        Mux(
                            job.has_double_groups,
                            2 * _FIELDS_PER_BLOCK * self.blocks,
                            _FIELDS_PER_BLOCK * self.blocks,
                        )
                        + beats
                    ),
                    words_left.eq(job.words),
                    groups_left.eq(job.groups),
                ]
                with m.If(self.jobs.valid):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += self.requests.valid.eq(words_left != 0)
                with m.If(self.requests.ready | (words_left == 0)):
                    m.next = "PREPARE"
            with m.State("PREPARE"):
                # Until now the last fill, of another job, may have been under way.
                with m.If(self.fills.ready):
                    m.d.sync += [
                        self.zero_point.eq(job.zero_point),
                        self.is_unsigned.eq(job.is_unsigned),
                        self.is_table.eq(job.is_table),
                        self.is_packed.eq(job.is_packed),
                    ]
                    m.next = "CHECK"
            with m.State("CHECK"):
                m.next = "FILL"
                with m.If(words_left < size):
                    m.next = "BAD"
            with m.State("FILL"):
                m.d.comb += self.fills.valid.eq(1)
                with m.If(self.fills.ready):
                    m.d.sync += [words_left.eq(words_left - size), groups_left.eq(groups_left - 1)]
                    m.next = "CHECK"
                    with m.If(groups_left == 1):
                        m.next = "END"
            with m.State("END"):
                m.next = "IDLE"
                with m.If(words_left == 0):
                    m.d.comb += self.jobs.ready.eq(1)
                with m.Else():
                    m.next = "BAD"
            with m.State("BAD"):
                m.d.comb += self.is_bad_stream.eq(1)
        return m

    def _decode(self, m: Module) -> None:
        """Turn what is stored into beats of fills; raw streams are these beats."""
        m.d.comb += [
            self.beats.valid.eq(self.stored.valid),
            self.beats.payload.eq(self.stored.payload.data),
            self.stored.ready.eq(self.beats.ready),
        ]
