"""Weights and parameters of jobs, from DRAM to the weight buffer."""

import functools
import operator

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES, FIRST_GROUPS
from kiwicha.contract.depthwise import PASS_BEATS, PASS_PLACES, UNIT_CHANNELS
from kiwicha.contract.engine import has_packed, outputs_of
from kiwicha.gateware.engine.array.interfaces import LANES
from kiwicha.gateware.engine.memory.interfaces import RANGE_REQUEST, READ_BEAT
from kiwicha.gateware.engine.weights.block_decoder import BlockDecoder
from kiwicha.gateware.engine.weights.decompressor import Decompressor
from kiwicha.gateware.engine.weights.interfaces import (
    FIELDS,
    PARAMETER_BLOCK,
    WEIGHTS_JOB,
    FillSignature,
)
from kiwicha.gateware.engine.weights.raw_streams import RawStreams

__all__ = ["WeightLoader"]

_UNIT_BLOCKS = UNIT_CHANNELS // PARAMETER_BLOCK
"""Blocks of parameters of a group of the depthwise unit."""


class WeightLoader(wiring.Component):
    """Fetch each job's weight stream, decode it and fill the weight buffer with it by groups.

    The size of a stream must be that of its groups, and if it is coded its check sum must be right,
    else there is an error; see `Decompressor`, `BlockDecoder`, or `RawStreams` without a codec. The
    stream of the next job is asked for as soon as the last fill of a job is commanded.

    Latency: 1 cycle from a job to its request, 3 from there to the first fill, if the buffer is
    free. Throughput: that of the `Decompressor`.

    Parameters
    ----------
    macs : int
        Products per cycle of the array.
    has_codec : bool
        Streams can be coded.
    has_blocks : bool
        The code is that of blocks.
    is_resident : bool
        Words can be kept.
    has_depthwise : bool
        Streams can be of the depthwise unit.

    Members
    -------
    jobs : ``In(stream.Signature(WEIGHTS_JOB))``
        Jobs in order; taken with the command of the last fill, and a move when no stream is under
        way.
    requests : ``Out(stream.Signature(RANGE_REQUEST))``
        What is to be fetched.
    stored : ``In(stream.Signature(READ_BEAT))``
        What was fetched.
    fill : ``Out(FillSignature(outputs, has_pairs=has_blocks))``
        To the weight buffer.
    number : ``Out(16)``
        Jobs whose streams are complete and good, and moves.
    is_between : ``Out(1)``
        No stream is under way: what is asked for belongs to job ``number``.
    is_idle : ``Out(1)``
        Nor is there a job.
    is_bad_stream : ``Out(1)``
        The stream of job ``number`` is bad; stays.

    Attributes
    ----------
    groups_left, is_first : Signal
        Groups of the job whose fill is not commanded yet; none of it was begun.
    begun : Signal
        The decompressor has the first group of the job, and the second.
    fsm : FSM
        What is being done.
    """

    def __init__(
        self,
        *,
        macs: int,
        has_codec: bool,
        has_blocks: bool = False,
        is_resident: bool = False,
        has_depthwise: bool = False,
    ) -> None:
        self.macs = macs
        self.has_codec = has_codec
        self.has_blocks = has_blocks
        self.is_resident = is_resident
        self.has_depthwise = has_depthwise
        outputs = outputs_of(macs)
        self.has_packed = has_packed(macs)
        self.blocks = outputs // PARAMETER_BLOCK
        self.beats_per_word = LANES * outputs // BEAT_BYTES
        super().__init__({
            "jobs": In(stream.Signature(WEIGHTS_JOB)),
            "requests": Out(stream.Signature(RANGE_REQUEST)),
            "stored": In(stream.Signature(READ_BEAT)),
            "fill": Out(
                FillSignature(outputs=outputs, has_pairs=has_blocks, is_resident=is_resident)
            ),
            "number": Out(16),
            "is_between": Out(1),
            "is_idle": Out(1),
            "is_bad_stream": Out(1),
        })
        self.decompressor: Decompressor | BlockDecoder | RawStreams
        if has_codec:
            self.decompressor = BlockDecoder() if has_blocks else Decompressor()
        else:
            self.decompressor = RawStreams()
        self.groups_left = Signal(16)
        self.is_first = Signal()
        self.begun = Signal(FIRST_GROUPS)

    def elaborate(self, platform: object) -> Module:
        """Build the states of jobs and groups."""
        m = Module()
        m.submodules.decompressor = decompressor = self.decompressor
        job = self.jobs.payload
        groups_left = self.groups_left
        is_first = self.is_first
        has_words = Signal()
        m.d.comb += [
            has_words.eq(job.words != 0),
            self.requests.payload.offset.eq(job.offset),
            self.requests.payload.words.eq(job.words),
            self.requests.payload.is_program.eq(1),
            self.fill.commands.payload.blocks.eq(
                Mux(job.has_double_groups, 2 * self.blocks, self.blocks)
            ),
            self.fill.commands.payload.words.eq(self._words),
            self.fill.commands.payload.is_fused.eq(job.is_fused),
            self.is_between.eq(decompressor.is_between),
            self.is_bad_stream.eq(decompressor.is_bad),
        ]
        self._decode(m, decompressor, has_words, is_first, groups_left == 1)
        # Behind the first group of a job.
        is_next = Signal()
        skips = Signal()
        with m.If(decompressor.ends | skips):
            m.d.sync += self.number.eq(self.number + 1)
        with m.FSM() as self.fsm:
            with m.State("IDLE"):
                m.d.comb += self.is_idle.eq(~self.jobs.valid & self.is_between)
                m.d.sync += [groups_left.eq(job.groups), is_first.eq(1)]
                with m.If(job.is_move):
                    # When it is its turn to be counted.
                    m.d.comb += [
                        skips.eq(self.jobs.valid & self.is_between),
                        self.jobs.ready.eq(skips),
                    ]
                with m.Elif(self.jobs.valid):
                    m.next = "REQUEST"
            with m.State("REQUEST"):
                m.d.comb += self.requests.valid.eq(has_words)
                with m.If(self.requests.ready | ~has_words):
                    m.next = "GROUP"
            with m.State("GROUP"):
                # The decompressor goes ahead, as far as it gets before the buffer takes beats.
                m.d.comb += decompressor.groups.valid.eq(1)
                with m.If(decompressor.groups.ready):
                    m.d.sync += is_first.eq(0)
                    m.next = "FILL"
                    with m.If(is_first):
                        m.next = "PREPARE"
            with m.State("PREPARE"):
                # Until now the last fill, of another job, may have been under way. With two kinds
                # of fills the room for this one is not known before.
                is_free = self.fill.is_idle if self.has_depthwise else self.fill.commands.ready
                with m.If(is_free):
                    self._prepare(m, is_next)
                    m.next = "FILL"
            with m.State("FILL"):
                m.d.comb += self.fill.commands.valid.eq(1)
                with m.If(self.fill.commands.ready):
                    m.d.sync += groups_left.eq(groups_left - 1)
                    self._keep_place(m, is_next)
                    m.next = "GROUP"
                    with m.If(groups_left == 1):
                        m.d.comb += self.jobs.ready.eq(1)
                        m.next = "IDLE"
        return m

    @property
    def _words(self) -> Value:
        """Words of a group that its stream has."""
        job = self.jobs.payload
        if not self.is_resident:
            return job.group_words
        return Mux(job.is_held & ~job.loads, 0, job.group_words)

    def _keep_place(self, m: Module, is_next: Signal) -> None:
        """Say where the words of a group are kept, behind those of the one before."""
        if self.is_resident:
            word = self.fill.resident_word
            m.d.sync += is_next.eq(1)
            with m.If(is_next):
                m.d.sync += word.eq(word + self.jobs.payload.group_words)

    def _prepare(self, m: Module, is_next: Signal) -> None:
        """Say what is common to the fills of a job."""
        job = self.jobs.payload
        m.d.sync += [
            self.fill.zero_point.eq(job.zero_point),
            self.fill.is_unsigned.eq(job.is_unsigned),
            self.fill.is_table.eq(job.is_table),
            self.fill.is_packed.eq(job.is_packed),
            self.fill.is_unit.eq(job.is_unit),
        ]
        if self.has_blocks:
            m.d.sync += self.fill.wraps.eq(job.is_coded)
        if self.is_resident:
            m.d.sync += [
                self.fill.loads.eq(job.is_held & job.loads),
                self.fill.resident_word.eq(job.resident_word),
                is_next.eq(0),
            ]

    def _decode(
        self,
        m: Module,
        decompressor: Decompressor | BlockDecoder | RawStreams,
        has_words: Signal,
        is_first: Signal,
        is_last: Value,
    ) -> None:
        """Connect the decompressor: all beats of a raw stream are plain ones."""
        job, group = self.jobs.payload, decompressor.groups.payload
        single = FIELDS * self.blocks
        parameters = Mux(job.has_double_groups, 2 * single, single)
        # Of groups 0 and 1, one for each bank, all parameters are there.
        is_short = Signal()
        fills_short = Signal()
        m.d.comb += is_short.eq(job.is_shared & self.begun[-1] & ~is_first)
        with m.If(decompressor.groups.valid & decompressor.groups.ready):
            m.d.sync += [
                self.begun.eq(Cat(1, self.begun[:-1] & (~is_first).replicate(FIRST_GROUPS - 1))),
                fills_short.eq(is_short),
            ]
        if self.has_depthwise and self.blocks != _UNIT_BLOCKS:
            parameters = Mux(job.is_unit, FIELDS * _UNIT_BLOCKS, parameters)
        parameters = Mux(is_short, self.fill.commands.payload.blocks, parameters)
        # In blocks biases alone are decoded like weights.
        plain = Mux(is_short, 0, parameters) if self.has_blocks else parameters
        coded_biases = Mux(is_short, self.fill.commands.payload.blocks, 0) if self.has_blocks else 0
        weights = self._words << (self.beats_per_word - 1).bit_length()
        if self.has_packed:
            weights = Mux(job.is_packed, weights << 1, weights)
        if self.has_depthwise:
            passes = job.group_words[: PASS_PLACES.bit_length()]
            # As a sum: Yosys takes a DSP block for a product.
            shifts = (bit for bit in range(PASS_BEATS.bit_length()) if PASS_BEATS >> bit & 1)
            beats = functools.reduce(operator.add, (passes << shift for shift in shifts))
            weights = Mux(job.is_unit, beats, weights)
        m.d.comb += [
            group.plain_beats.eq(Mux(job.is_coded, plain, parameters + weights)),
            group.coded_beats.eq(weights + coded_biases),
            group.is_coded.eq(job.is_coded),
            group.is_empty.eq(~has_words),
            group.is_first.eq(is_first),
            group.is_last.eq(is_last),
            self.fill.commands.payload.has_biases_only.eq(fills_short),
            self.fill.parameters.eq(self.fill.beats.payload)
            if self.has_blocks
            else self.fill.parameters.eq(self.stored.payload.data),
        ]
        wiring.connect(m, wiring.flipped(self.stored), decompressor.stored)
        wiring.connect(m, decompressor.beats, wiring.flipped(self.fill.beats))
        if self.has_blocks:
            m.d.comb += self.fill.is_pair.eq(decompressor.is_pair)
