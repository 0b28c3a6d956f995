"""What is proven of the component that fetches weights and passes them on by groups.

It is proven with `RawStreams`; nothing is proven here of streams that go through a `Decompressor`.
"""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume

from kiwicha.contract.codec import BEAT_BYTES, FIRST_GROUPS
from kiwicha.contract.engine import GROUP_WORDS, outputs_of
from kiwicha.gateware.engine.array.interfaces import LANES
from kiwicha.gateware.engine.weights.interfaces import FIELDS, RESIDENT_BITS
from kiwicha.gateware.engine.weights.weight_loader import WeightLoader
from tests.support.gateware.proof import Rules, assume_stream, check_stream, in_state, signals_of

__all__ = ["raw_loader"]

_COUNT_BITS = 13
_MODES = ("zero_point", "is_unsigned", "is_table", "is_packed")


class _Ghost:
    """What happened so far, counted outside the component.

    Attributes
    ----------
    filled : Signal
        Fills of the job that were commanded.
    is_asked : Signal
        The job's stream was asked for.
    taken, begun : Signal
        Jobs that were taken, and whose first group the decompressor has, or that have none.
    is_last : Signal
        The decompressor's group is the last of its job, or it never had one.
    due : Signal
        Beats of the decompressor's groups that did not come out.
    open_left : Signal
        Beats that the weight buffer wants for the fill that is under way.
    is_used_up : Signal
        The last word of the stream was taken, or there was none.
    is_short : Signal
        The next group, whose fill was not commanded, has biases only.
    job_words : Signal
        Words of a group that the stream has: none if they are kept.
    place : Signal
        Where words of the fill that is under way are kept.
    """

    def __init__(self, m: Module, dut: WeightLoader) -> None:
        self.filled = Signal(16, name="filled")
        self.is_asked = Signal(name="is_asked")
        self.taken = Signal(16, name="taken")
        self.begun = Signal(16, name="begun")
        self.is_last = Signal(init=1, name="was_last")
        self.due = Signal(_COUNT_BITS, name="due")
        self.open_left = Signal(_COUNT_BITS, name="open_left")
        self.is_used_up = Signal(init=1, name="was_used_up")
        self.job_beats = Signal(_COUNT_BITS, name="job_beats")
        self.is_short = Signal(name="is_short")
        self.job_words = Signal(range(GROUP_WORDS + 1), name="job_words")
        self.place = Signal(RESIDENT_BITS, name="place")
        self._count(m, dut)

    def fields(self, blocks: Value) -> Value:
        """Return the beats of parameters of the group whose fill is to be commanded."""
        return Mux(self.is_short, blocks, FIELDS * blocks)

    def _count(self, m: Module, dut: WeightLoader) -> None:
        job, groups = dut.jobs.payload, dut.decompressor.groups
        single = LANES * outputs_of(dut.macs) // BEAT_BYTES
        fill = dut.fill.commands.payload
        words = Mux(dut.fill.is_packed, 2 * single * fill.words, single * fill.words)
        there = self.job_words
        job_words = Mux(job.is_packed, 2 * single * there, single * there)
        job_blocks = Mux(job.has_double_groups, 2 * dut.blocks, dut.blocks)
        passes = dut.fill.beats.valid & dut.fill.beats.ready
        is_kept = job.is_held & ~job.loads & int(dut.is_resident)
        m.d.comb += [
            self.job_words.eq(Mux(is_kept, 0, job.group_words)),
            self.is_short.eq(job.is_shared & (self.filled >= FIRST_GROUPS)),
            self.job_beats.eq(self.fields(job_blocks) + job_words),
        ]
        m.d.sync += [self.due.eq(self.due - passes), self.open_left.eq(self.open_left - passes)]
        with m.If(dut.stored.valid & dut.stored.ready):
            m.d.sync += self.is_used_up.eq(dut.stored.payload.is_last)
        with m.If(dut.requests.valid & dut.requests.ready):
            m.d.sync += self.is_asked.eq(1)
        with m.If(groups.valid & groups.ready):
            coded = Mux(groups.payload.is_coded, groups.payload.coded_beats, 0)
            m.d.sync += [
                self.due.eq(self.due - passes + groups.payload.plain_beats + coded),
                self.is_last.eq(groups.payload.is_last),
            ]
            with m.If(groups.payload.is_first):
                m.d.sync += [
                    self.begun.eq(self.begun + 1),
                    self.is_used_up.eq(job.words == 0),
                ]
        with m.If(dut.fill.commands.valid & dut.fill.commands.ready):
            m.d.sync += [
                self.filled.eq(self.filled + 1),
                self.open_left.eq(self.fields(fill.blocks) + words),
                self.place.eq(
                    Mux(self.filled == 0, job.resident_word, self.place + job.group_words)
                ),
            ]
        with m.If(dut.jobs.valid & dut.jobs.ready):
            m.d.sync += [self.filled.eq(0), self.is_asked.eq(0), self.taken.eq(self.taken + 1)]
            with m.If(job.is_move):
                m.d.sync += self.begun.eq(self.begun + 1)


def _surroundings(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """Assume jobs that passed the check, and a weight buffer that takes what it was told of.

    Words come at any time, as many as they like.
    """
    job = dut.jobs.payload
    assume_stream(m, dut.jobs, "jobs")
    assume_stream(m, dut.stored, "stored")
    m.d.comb += [
        Assume(job.groups != 0),
        Assume((job.group_words != 0) & (job.group_words <= GROUP_WORDS)),
        Assume(~job.is_packed | (job.has_double_groups & int(dut.has_packed))),
        Assume(~job.is_coded | int(dut.has_codec)),
        Assume(~dut.fill.beats.ready | (ghost.open_left != 0)),
        Assume(~dut.fill.commands.ready | (ghost.open_left == 0)),
    ]


def _states_requests(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """State that each stream is asked for once, with the words of its job, before its groups."""
    job, asked = dut.jobs.payload, dut.requests.payload
    check_stream(m, dut.requests, "requests")
    has_words = job.words != 0
    m.d.comb += [
        Assert(~dut.requests.valid | (dut.jobs.valid & has_words & ~ghost.is_asked)),
        Assert(~dut.requests.valid | ~job.is_move),
        Assert(~dut.requests.valid | (asked.offset == job.offset)),
        Assert(~dut.requests.valid | (asked.words == job.words)),
        Assert(~dut.requests.valid | (asked.is_program & ~asked.is_write)),
        Assert(~dut.decompressor.groups.valid | (ghost.is_asked == has_words)),
        Assert(~dut.jobs.ready | (ghost.is_asked == (has_words & ~job.is_move))),
        Assert(~(dut.requests.valid & dut.is_between) | (dut.number == ghost.taken)),
    ]


def _states_fills(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """State that a job has one fill for each group, and is taken with the last one.

    A move has none, and is taken when no stream is under way.
    """
    job, fill = dut.jobs.payload, dut.fill.commands.payload
    groups = dut.decompressor.groups
    check_stream(m, dut.fill.commands, "fills")
    check_stream(m, groups, "groups")
    size = groups.payload.plain_beats + Mux(groups.payload.is_coded, groups.payload.coded_beats, 0)
    takes_fill = dut.fill.commands.valid & dut.fill.commands.ready
    had_room = Signal()
    m.d.sync += had_room.eq(dut.fill.commands.ready & ~takes_fill)
    wanted: dict[str, Value] = {name: getattr(job, name) for name in _MODES}
    if dut.is_resident:
        wanted["loads"] = job.is_held & job.loads
    for name, own in wanted.items():
        mode = getattr(dut.fill, name)
        earlier = Signal(len(mode), name=f"earlier_{name}")
        m.d.sync += earlier.eq(mode)
        m.d.comb += [
            Assert(~dut.fill.commands.valid | (mode == own)),
            Assert((earlier == mode.as_unsigned()) | had_room),
        ]
    double = Mux(job.has_double_groups, 2 * dut.blocks, dut.blocks)
    m.d.comb += [
        Assert(~dut.fill.commands.valid | (dut.jobs.valid & (ghost.filled < job.groups))),
        Assert(
            ~dut.fill.commands.valid | ((fill.blocks == double) & (fill.words == ghost.job_words))
        ),
        Assert(~dut.fill.commands.valid | (fill.is_fused == job.is_fused)),
        Assert(~dut.fill.commands.valid | (fill.has_biases_only == ghost.is_short)),
        Assert(
            dut.jobs.ready
            == Mux(
                job.is_move,
                dut.jobs.valid & dut.is_between,
                takes_fill & (ghost.filled + 1 == job.groups),
            )
        ),
        Assert(~dut.fill.commands.valid | ~job.is_move),
        Assert(~groups.valid | (groups.payload.is_first == (ghost.filled == 0))),
        Assert(~groups.valid | (groups.payload.is_last == (ghost.filled + 1 == job.groups))),
        Assert(~groups.valid | (size == ghost.job_beats)),
    ]


def _states_beats(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """State that the beats of a fill are those of its group; that nothing else is taken or given.

    The decompressor is at most one group ahead of the fills. Of a stream that is good its last beat
    may still be offered, but the weight buffer waits for that only.
    """
    check_stream(m, dut.fill.beats, "beats")
    is_ahead = in_state(dut.fsm, "PREPARE", "FILL")
    was_bad = Signal()
    of_bad = Signal(16)
    fields_left = Signal(8)
    with m.If(dut.fill.beats.valid & dut.fill.beats.ready & fields_left.any()):
        m.d.sync += fields_left.eq(fields_left - 1)
    with m.If(dut.fill.commands.valid & dut.fill.commands.ready):
        m.d.sync += fields_left.eq(ghost.fields(dut.fill.commands.payload.blocks))
    m.d.sync += [was_bad.eq(dut.is_bad_stream), of_bad.eq(dut.number)]
    ahead = Mux(is_ahead, ghost.job_beats, 0)
    m.d.comb += [
        Assert(ghost.due == ghost.open_left + ahead),
        Assert(~is_ahead | (ghost.open_left <= dut.fill.beats.valid)),
        Assert(~dut.fill.beats.valid | (ghost.due != 0)),
        Assert(fields_left <= ghost.open_left),
        Assert(
            ~(dut.fill.beats.valid & fields_left.any())
            | (dut.fill.parameters == dut.fill.beats.payload)
        ),
        Assert(~dut.stored.ready | ~ghost.is_used_up),
        Assert(~dut.decompressor.ends | ((ghost.due == dut.fill.beats.valid) & ghost.is_last)),
        Assert(~dut.decompressor.ends | ghost.is_used_up),
        Assert(~was_bad | (dut.is_bad_stream & (dut.number == of_bad))),
        Assert(~dut.is_idle | (~dut.jobs.valid & (dut.number == ghost.taken))),
        Assert(~dut.is_idle | (ghost.is_used_up & (ghost.due == dut.fill.beats.valid))),
    ]


def _states_order(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """State what the others follow from, about the order of jobs and groups."""
    is_first = in_state(dut.fsm, "IDLE", "REQUEST") | (
        in_state(dut.fsm, "GROUP") & (ghost.filled == 0)
    )
    is_group = in_state(dut.fsm, "GROUP")
    is_ahead = in_state(dut.fsm, "PREPARE", "FILL")
    job = dut.jobs.payload
    m.d.comb += [
        Assert(in_state(dut.fsm, *dut.fsm.encoding)),
        Assert(in_state(dut.fsm, "IDLE") | (dut.jobs.valid & ~job.is_move)),
        Assert(in_state(dut.fsm, "IDLE") | (dut.groups_left + ghost.filled == job.groups)),
        Assert(in_state(dut.fsm, "IDLE") | (ghost.filled < job.groups)),
        Assert(~in_state(dut.fsm, "IDLE", "REQUEST", "PREPARE") | (ghost.filled == 0)),
        Assert(~in_state(dut.fsm, "IDLE", "REQUEST") | ~ghost.is_asked),
        Assert(~(is_group | is_ahead) | (ghost.is_asked == (job.words != 0))),
        Assert(~in_state(dut.fsm, "REQUEST") | dut.is_first),
        Assert(~is_group | (dut.is_first == (ghost.filled == 0))),
        Assert(~is_ahead | ~dut.is_first),
        Assert(~is_ahead | (dut.fill.commands.payload.has_biases_only == ghost.is_short)),
        # The decompressor has the next group, too.
        Assert(~is_ahead | (dut.begun == Cat(1, ghost.filled != 0))),
        Assert(~is_group | is_first | (dut.begun == Cat(1, ghost.filled != 1))),
        Assert(ghost.begun == (ghost.taken + ~is_first)[:16]),
        Assert(~is_first | ghost.is_last),
        Assert(~(is_group & ~is_first) | ~ghost.is_last),
        Assert(~is_ahead | (ghost.is_last == (dut.groups_left == 1))),
        Assert(ghost.begun == (dut.number + ~dut.is_between)[:16]),
        Assert(~dut.is_between | (ghost.is_last & ghost.is_used_up)),
    ]
    for name in _MODES:
        is_behind = in_state(dut.fsm, "FILL") | (is_group & ~is_first)
        m.d.comb += Assert(~is_behind | (getattr(dut.fill, name) == getattr(job, name)))


def _states_raw(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """State what the others follow from, about the state of `RawStreams`."""
    own = signals_of(dut.decompressor)
    # IDLE, PLAIN, END and BAD: states have codes in the order in which they are written.
    idle, plain, end, bad = (own["fsm_state"] == number for number in range(4))
    left, is_used_up = own["left"], own["is_used_up"]
    m.d.comb += [
        Assert(~plain | ((ghost.due == left) & (left != 0))),
        Assert(~(idle | end) | (ghost.due == 0)),
        Assert(~(plain | end) | (own["is_last"] == ghost.is_last)),
        Assert(~(plain | end | bad) | ~dut.is_between),
        Assert(~idle | (dut.is_between == ghost.is_last)),
        Assert(dut.is_between | (is_used_up == ghost.is_used_up)),
        Assert(dut.is_bad_stream == bad),
    ]


def _states_places(m: Module, dut: WeightLoader, ghost: _Ghost) -> None:
    """State that a group's words are kept behind those of the one before."""
    if not dut.is_resident:
        return
    job, word, is_next = dut.jobs.payload, dut.fill.resident_word, signals_of(dut)["is_next"]
    is_first = in_state(dut.fsm, "FILL") & (ghost.filled == 0)
    is_later = in_state(dut.fsm, "GROUP", "FILL") & (ghost.filled != 0)
    is_loading = in_state(dut.fsm, "FILL") | is_later
    m.d.comb += [
        Assert((ghost.open_left == 0) | (word == ghost.place)),
        Assert(~is_first | ((word == job.resident_word) & ~is_next & (ghost.open_left == 0))),
        Assert(is_first | (word == ghost.place)),
        Assert(~is_later | is_next),
        Assert(~is_loading | (dut.fill.loads == (job.is_held & job.loads))),
    ]


def raw_loader(dut: WeightLoader) -> Rules:
    """State that jobs, groups, beats and words of a loader without a codec belong together.

    Assumed: jobs and words stay until they are taken; a job is one that passed its check; the
    weight buffer takes what it was told of, one fill at a time.
    """

    def rules(m: Module, submodules: Any) -> None:
        ghost = _Ghost(m, dut)
        _surroundings(m, dut, ghost)
        _states_requests(m, dut, ghost)
        _states_fills(m, dut, ghost)
        _states_beats(m, dut, ghost)
        _states_places(m, dut, ghost)
        _states_order(m, dut, ghost)
        _states_raw(m, dut, ghost)

    return rules
