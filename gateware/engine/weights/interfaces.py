"""What passes between a job's descriptor, its weight stream and the weight buffer."""

from amaranth import signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.configs import RESIDENT_WORDS
from kiwicha.contract.depthwise import PARAMETER_PLACES, UNIT_CHANNELS
from kiwicha.contract.engine import GROUP_WORDS
from kiwicha.gateware.engine.memory.interfaces import OFFSET_BITS, READ_BEAT

__all__ = [
    "BEAT_COUNT_BITS",
    "FIELDS",
    "PARAMETER_BLOCK",
    "RESIDENT_BITS",
    "STREAM_GROUP",
    "UNIT_PARAMETERS",
    "WEIGHTS_JOB",
    "FillSignature",
    "StreamDecoderSignature",
]

RESIDENT_BITS = (RESIDENT_WORDS - 1).bit_length()
"""Number of a word that the engine keeps."""
PARAMETER_BLOCK = 4
"""Channels whose parameters come together: a beat of biases, one of multipliers, one of shifts."""
FIELDS = 3
"""Beats of a block."""

UNIT_PARAMETERS = data.StructLayout({
    "write": 1,
    "place": range(PARAMETER_PLACES),
    "block": range(UNIT_CHANNELS // PARAMETER_BLOCK),
    "field": range(FIELDS),
})
"""With ``write``, a beat is a ``field`` of the 4 channels of a ``block`` of a group of the unit for
depthwise convolutions, whose parameters are at a ``place``."""

WEIGHTS_JOB = data.StructLayout({
    "offset": OFFSET_BITS,
    "words": OFFSET_BITS,
    "groups": 16,
    "group_words": range(GROUP_WORDS + 1),
    "has_double_groups": 1,
    "is_unsigned": 1,
    "is_table": 1,
    "is_fused": 1,
    "is_packed": 1,
    "is_coded": 1,
    "is_shared": 1,
    "is_move": 1,
    "is_unit": 1,
    "is_held": 1,
    "loads": 1,
    "resident_word": RESIDENT_BITS,
    "zero_point": signed(9),
})
"""What the weights of a job need: a stream in the Program, in DRAM words; for each of ``groups``
groups ``group_words`` weight words, and parameters of twice as many channels if
``has_double_groups``; with ``is_table`` the words are tables, with ``is_fused`` those of FUSED
jobs; with ``is_packed`` words are of twice the size; with ``is_coded`` the words of the stream are
coded; with ``is_shared`` the third group and all behind it have biases only. With ``is_move`` there
is no stream; with ``is_unit`` the words are passes of the depthwise unit. With ``is_held`` words
are kept from ``resident_word`` on: with ``loads`` those of the stream, which has none
otherwise."""

BEAT_COUNT_BITS = 12
"""Beats of a group: up to 256 words of 128 bytes, and parameters."""
STREAM_GROUP = data.StructLayout({
    "plain_beats": BEAT_COUNT_BITS,
    "coded_beats": BEAT_COUNT_BITS,
    "is_coded": 1,
    "is_empty": 1,
    "is_first": 1,
    "is_last": 1,
})
"""A group of a stream: ``plain_beats`` as they are, 1 or more, or 0 in a stream of blocks but for
its first group; then, if the stream ``is_coded``, ``coded_beats``, 1 or more. With ``is_first`` a
stream begins, which has no beats if it ``is_empty``; with ``is_last`` it must end."""


class FillSignature(wiring.Signature):
    """Fills of the weight buffer, group by group, as their source sees them.

    Parameters
    ----------
    outputs : int
        Results of one beat of the array.
    words : int
        Weight words of a group, at most.
    has_pairs : bool
        Beats of weights can come two at a time.
    is_resident : bool
        Words can be kept.

    Members
    -------
    commands : ``Out(stream.Signature(StructLayout(...)))``
        Start a fill of ``3 * blocks`` beats of parameters, 0 to outputs / 2 blocks, and of
        ``words`` weight words, 1 or more; where words are kept, 0 or more, if there are blocks.
        With ``has_biases_only`` there are ``blocks`` beats of biases, which may come in pairs; the
        other parameters stay as they are in the bank. Taken when a bank is free and no fill is
        under way. With ``is_fused`` the words are tables of FUSED jobs, which need no bank, and
        parameters have no effect; taken when the tables of the last such fill are in use, and no
        fill is under way.
    beats : ``Out(stream.Signature(128))``
        Contents of the fill; taken while one is under way. With ``has_pairs`` 256 bits: two beats
        of weights if ``is_pair``, else the same beat twice.
    is_pair : ``Out(1)``
        Only with ``has_pairs``: there are two beats, of two blocks or of a word, and the first of
        them has an even number there. There are none of a table.
    loads, resident_word
        Only with ``is_resident``: words are not written to the bank, but kept, from this one on.
        Stable like the others.
    wraps : ``Out(1)``
        Only with ``has_pairs``: weights less the zero point are taken modulo 256, as int8.
    parameters : ``Out(128)``
        The payload of ``beats`` while it is one of parameters: if these are never coded it has not
        to wait for what decodes weights.
    zero_point : ``Out(signed(9))``
        Weight zero point.
    is_unsigned : ``Out(1)``
        Weight bytes are 0 to 255, else -128 to 127.
    is_table : ``Out(1)``
        The weights of a fill are tables.
    is_packed : ``Out(1)``
        Words have packed weights as well; no effect but in an array of `PACKED_MACS`.
    is_unit : ``Out(1)``
        Words are passes of the depthwise unit. These five, and ``wraps``, are stable from a command
        until a cycle behind the last beat, or until ``is_idle``.
    is_idle : ``In(1)``
        No fill is under way.
    """

    def __init__(
        self,
        *,
        outputs: int,
        words: int = GROUP_WORDS,
        has_pairs: bool = False,
        is_resident: bool = False,
    ) -> None:
        command = data.StructLayout({
            "blocks": range(2 * outputs // PARAMETER_BLOCK + 1),
            "words": range(words + 1),
            "is_fused": 1,
            "has_biases_only": 1,
        })
        super().__init__({
            **({"is_pair": Out(1), "wraps": Out(1)} if has_pairs else {}),
            **({"loads": Out(1), "resident_word": Out(RESIDENT_BITS)} if is_resident else {}),
            "commands": Out(stream.Signature(command)),
            "beats": Out(stream.Signature((2 if has_pairs else 1) * 8 * BEAT_BYTES)),
            "parameters": Out((2 if has_pairs else 1) * 8 * BEAT_BYTES),
            "zero_point": Out(signed(9)),
            "is_unsigned": Out(1),
            "is_table": Out(1),
            "is_packed": Out(1),
            "is_unit": Out(1),
            "is_idle": In(1),
        })


class StreamDecoderSignature(wiring.Signature):
    """Interface of a `Decompressor`, `BlockDecoder` or `RawStreams`, as the weight loader sees it.

    Parameters
    ----------
    has_pairs : bool
        Coded beats come two at a time.

    Members
    -------
    groups : ``Out(stream.Signature(STREAM_GROUP))``
        What is to come, group by group.
    stored : ``Out(stream.Signature(READ_BEAT))``
        The streams.
    beats : ``In(stream.Signature(128))``
        Beats of the groups. With ``has_pairs`` 256 bits: two beats if ``is_pair``, else the same
        one twice.
    is_pair : ``In(1)``
        Only with ``has_pairs``.
    is_between : ``In(1)``
        No stream is under way; 1 after a reset.
    ends : ``In(1)``
        The last group of a stream was passed on, and the stream is good.
    is_bad : ``In(1)``
        The stream has an error; stays until the next reset.
    """

    def __init__(self, *, has_pairs: bool = False) -> None:
        super().__init__({
            "groups": Out(stream.Signature(STREAM_GROUP)),
            "stored": Out(stream.Signature(READ_BEAT)),
            **({"is_pair": In(1)} if has_pairs else {}),
            "beats": In(stream.Signature((2 if has_pairs else 1) * 8 * BEAT_BYTES)),
            "is_between": In(1, init=1),
            "ends": In(1),
            "is_bad": In(1),
        })
