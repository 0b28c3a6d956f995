"""Latencies and depths of the engine, in cycles or words.

The gateware has them; the cycle model and the benches reckon with them.
"""

from kiwicha.contract.engine import DEEP_MACS, has_packed, outputs_of
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    PAIRS,
    EngineShortElements,
    ShortForm,
    ShortOperator,
)

__all__ = [
    "ADDRESS_START_CYCLES",
    "BLOCK_GROUP_CYCLES",
    "BLOCK_STREAM_CYCLES",
    "CONVERTED_BYTES_PER_CYCLE",
    "CONVERTER_LOAD_CYCLES",
    "CONV_CYCLES",
    "DECODER_GROUP_CYCLES",
    "DECODER_STREAM_CYCLES",
    "DEPTHWISE_CYCLES",
    "DRAIN_CYCLES",
    "ELEMENT_START_CYCLES",
    "FUSED_BEAT_CYCLES",
    "FUSED_SUM_CYCLES",
    "FUSED_TABLES_READY_CYCLES",
    "INPUT_CYCLES",
    "LINE_READ_CYCLES",
    "LOWER_WRITE_CYCLES",
    "MOVE_DRAIN_CYCLES",
    "MOVE_START_CYCLES",
    "NEXT_BEAT_CYCLES",
    "PARAMETER_CYCLES",
    "PARAMETER_WAIT_CYCLES",
    "PORT_QUIET_CYCLES",
    "PORT_TURN_WORDS",
    "READER_WORDS",
    "RECURRENT_DRAIN_CYCLES",
    "RECURRENT_FUNCTION_CYCLES",
    "RECURRENT_SHORT_CYCLES",
    "RECURRENT_START_CYCLES",
    "RECURRENT_UNIT_CYCLES",
    "RECURRENT_WRITES",
    "REQUANTIZER_CYCLES",
    "RESULT_WRITE_CYCLES",
    "ROW_START_CYCLES",
    "SCRATCHPAD_READ_CYCLES",
    "SHORT_DRAIN_CYCLES",
    "SHORT_FINAL_CYCLES",
    "SHORT_FUNCTIONS",
    "SHORT_FUNCTION_CYCLES",
    "SHORT_LINE_CYCLES",
    "SHORT_OPERANDS_CYCLES",
    "SHORT_PAIR_CYCLES",
    "SHORT_PASS_CYCLES",
    "SHORT_PRODUCT_CYCLES",
    "SHORT_SINGLE_CYCLES",
    "SHORT_START_CYCLES",
    "SOFTMAX_DRAIN_CYCLES",
    "SOFTMAX_LOGARITHM_CYCLES",
    "SOFTMAX_MAXIMUM_CYCLES",
    "SOFTMAX_RECIPROCAL_CYCLES",
    "SOFTMAX_SCAN_BYTES",
    "SOFTMAX_START_CYCLES",
    "SOFTMAX_WRITE_BYTES",
    "SQUARE_CYCLES",
    "TABLE_CYCLES",
    "TILE_CYCLES",
    "WEIGHTS_READY_CYCLES",
    "WEIGHTS_RELEASE_CYCLES",
    "WEIGHT_READ_CYCLES",
    "WIDE_REQUANTIZER_CYCLES",
    "drain_cycles",
    "refill_cycles",
    "release_cycles",
    "short_beat_cycles",
]

# From operation to byte, in the order in which an operation passes.
ADDRESS_START_CYCLES = 5
"""From the start of a group to its first operation, without kernel rows above the input."""
ELEMENT_START_CYCLES = 2
"""The same for ADD, TABLE and MUL."""
ROW_START_CYCLES = 3
"""What an address generator needs for an output row, while the row before is under way."""
SCRATCHPAD_READ_CYCLES = 3
"""From an address to the bytes there, at any alignment."""
INPUT_CYCLES = SCRATCHPAD_READ_CYCLES + 1
"""From an operation to its inputs at the array: the read, and the zero point."""
WEIGHT_READ_CYCLES = 2
"""From an index to the weights."""
CONV_CYCLES = 12
"""Through the array: CONV, PACKED too."""
DEPTHWISE_CYCLES = 5
"""Through the array: DEPTHWISE and MUL."""
TABLE_CYCLES = 3
"""Through the array: ADD, TABLE and MAX."""
PARAMETER_CYCLES = 1
"""From the array to the requantizer: parameters are read."""
REQUANTIZER_CYCLES = 9
WIDE_REQUANTIZER_CYCLES = 10
"""Through the requantizer with `JobFlag.WIDE`."""
SQUARE_CYCLES = 4
"""What it takes more with `JobFlag.SQUARE`: less than what the array takes less for a table."""
RESULT_WRITE_CYCLES = 1
"""Into the scratchpad."""
LOWER_WRITE_CYCLES = 1
"""From the write of upper bytes of int16 to that of their lower ones."""
DRAIN_CYCLES = (
    INPUT_CYCLES + CONV_CYCLES + PARAMETER_CYCLES + WIDE_REQUANTIZER_CYCLES + RESULT_WRITE_CYCLES
)
"""From an operation until its result is written, at most."""
NEXT_BEAT_CYCLES = 2
"""From a beat of a result to the next one, at most."""
FUSED_BEAT_CYCLES = 8
"""What the sums of up to 8 bytes with `JobFlag.FUSED` take: from the first read of one such part to
that of the next one."""
FUSED_SUM_CYCLES = 16
"""From the write of a beat of 8 bytes to that of the last of its sums, if nothing waits."""

# Moves.
MOVE_START_CYCLES = 2
"""From the start of a MOVE job to its first read."""
TILE_CYCLES = 2
"""From the last read of a tile to its first write."""
MOVE_DRAIN_CYCLES = SCRATCHPAD_READ_CYCLES + RESULT_WRITE_CYCLES
"""From the last write of a MOVE job, as it is issued, until its bytes are in the scratchpad."""

# Probabilities.
SOFTMAX_START_CYCLES = 1
"""From the start of a SOFTMAX job to its first read."""
SOFTMAX_SCAN_BYTES = 8
"""Bytes of a row whose maximum is searched per cycle."""
SOFTMAX_MAXIMUM_CYCLES = 2
"""From the last read for a row's maximum to the first one for the sum of its exponentials."""
SOFTMAX_RECIPROCAL_CYCLES = 23
"""From the last of those to the first one for its outputs: seven products, and what is before."""
SOFTMAX_LOGARITHM_CYCLES = 40
"""The same with `JobFlag.LOGARITHMS`: four products before those seven, and one behind them."""
SOFTMAX_DRAIN_CYCLES = 13
"""From the last read of a SOFTMAX job until its bytes are in the scratchpad."""
SOFTMAX_WRITE_BYTES = 4
"""Bytes of an output that are written at a time."""

# Steps of LSTMs.
RECURRENT_START_CYCLES = 1
"""From the start of a RECURRENT job to its first read."""
RECURRENT_UNIT_CYCLES = 8
"""From the first read of a unit to that of the next one."""
RECURRENT_FUNCTION_CYCLES = 4
"""From an argument to the value of its function."""
RECURRENT_WRITES = 3
"""Writes of a unit: its cell state, and its hidden state in two places."""
RECURRENT_DRAIN_CYCLES = 38
"""From the last cycle of the last unit's reads until its hidden state is in the scratchpad."""
RECURRENT_SHORT_CYCLES = 1
"""What that takes more of int16, whose upper byte is a write more of each unit."""

# Operators of int16.
SHORT_START_CYCLES = 2
"""From the start of a SHORT_ELEMENTS job to its first read."""
SHORT_PAIR_CYCLES = 4
"""From a beat of ADD, SUB or MUL to the next one: passes of the requantizer, reads of planes."""
SHORT_FUNCTIONS = 2
"""Functions of numbers that LOGISTIC and TANH compute per cycle."""
SHORT_FUNCTION_CYCLES = ELEMENT_LANES // SHORT_FUNCTIONS
"""From a beat of LOGISTIC or TANH to the next one."""
SHORT_SINGLE_CYCLES = 2
"""From a beat of LEAKY_RELU or MAX to the next one, at least: two passes of the requantizer."""
SHORT_OPERANDS_CYCLES = SCRATCHPAD_READ_CYCLES + 1
"""From the last read of a beat until its operands are there."""
SHORT_PASS_CYCLES = 9
"""From a pass of an operand to what comes out of it."""
SHORT_PRODUCT_CYCLES = 5
"""From a pass of a product to what comes out of it."""
SHORT_LINE_CYCLES = SHORT_PASS_CYCLES + SHORT_FUNCTION_CYCLES + 8
"""From the pass of an argument of LOGISTIC or TANH until all functions of its beat are there."""

SHORT_DRAIN_CYCLES = (
    SHORT_OPERANDS_CYCLES
    + PARAMETER_CYCLES
    + WIDE_REQUANTIZER_CYCLES
    + LOWER_WRITE_CYCLES
    + RESULT_WRITE_CYCLES
)
"""From the last read of a SHORT_ELEMENTS job until its results are in the scratchpad, besides
`SHORT_FINAL_CYCLES`."""
SHORT_FINAL_CYCLES = {
    ShortOperator.ADD: 1 + SHORT_PASS_CYCLES,
    ShortOperator.SUB: 1 + SHORT_PASS_CYCLES,
    ShortOperator.MUL: SHORT_PRODUCT_CYCLES,
    ShortOperator.LEAKY_RELU: 1,
    ShortOperator.MAX: 1,
    ShortOperator.LOGISTIC: 1 + SHORT_LINE_CYCLES,
    ShortOperator.TANH: 1 + SHORT_LINE_CYCLES,
}
"""From the operands of a beat to the two passes that give its results."""

# Weights.
WEIGHTS_READY_CYCLES = 1
"""From the last beat of a group's weights until the group can begin."""
FUSED_TABLES_READY_CYCLES = 2
"""From the last beat of tables of sums behind convolutions until the job that takes them can begin:
their last entry is written a cycle later."""
WEIGHTS_RELEASE_CYCLES = 4
"""From the last read of a group's weights until its bank is free, where parameters wait until those
of the bank were read: the last lane has read before the first beat is in its memory."""
PARAMETER_WAIT_CYCLES = 2
"""What biases that waited need more, until their group can begin."""
DECODER_GROUP_CYCLES = 5
"""What the decompressor needs for a group besides its beats and steps, at most."""
DECODER_STREAM_CYCLES = 56
"""What it needs more for the first group of a coded stream: the table and the first chunks."""
BLOCK_GROUP_CYCLES = 4
"""What the decoder of blocks needs more for a group with plain beats, at most."""
BLOCK_STREAM_CYCLES = 16
"""What it needs more for the first group of a coded stream: the table and the first beats."""

# DRAM and the scratchpad's lines.
LINE_READ_CYCLES = 2
"""From an access to the line that it reads."""
CONVERTED_BYTES_PER_CYCLE = 1
"""Bytes of the scratchpad that the converter of float32 writes or reads; of a table, words."""
CONVERTER_LOAD_CYCLES = 14
"""From a word of DRAM until its bytes are in the scratchpad."""
READER_WORDS = 32
"""Words that a DMA reader or writer holds."""
PORT_TURN_WORDS = 64
"""Words, 1 KiB, after which the DRAM port may turn to another client."""
PORT_QUIET_CYCLES = 1023
"""After a reset the port asks DRAM when so many cycles have passed without a word: more than lie
between two words that DRAM owes. Those are apart by a refresh, of 43 cycles at most, and by words
of the CPU's port, which has one command at a time: a bound ten times as large is left."""


def drain_cycles(macs: int, lanes: int, *, has_int16: bool = False) -> int:
    """Return the cycles that the last operation of a job takes at most to become bytes.

    Parameters
    ----------
    macs : int
        Products per cycle of the array.
    lanes : int
        Results per beat of the requantizer.
    has_int16 : bool
        Results can have 16 bits.
    """
    lower = LOWER_WRITE_CYCLES if has_int16 else 0
    return DRAIN_CYCLES + NEXT_BEAT_CYCLES * (_most_beats(macs, lanes) - 1) + lower


def short_beat_cycles(job: EngineShortElements) -> int:
    """Return the cycles from a beat of a SHORT_ELEMENTS job to the next one.

    Parameters
    ----------
    job : EngineShortElements
        The job.
    """
    reads = 1 if job.form == ShortForm.WHOLE else 2
    if job.operator in PAIRS:
        return SHORT_PAIR_CYCLES
    if job.operator == ShortOperator.MAX:
        return max(reads * job.kernel_rows * job.kernel_columns, SHORT_SINGLE_CYCLES)
    is_leaky = job.operator == ShortOperator.LEAKY_RELU
    return SHORT_SINGLE_CYCLES if is_leaky else SHORT_FUNCTION_CYCLES


def _most_beats(macs: int, lanes: int) -> int:
    """Return the beats in which a CONV gives a result, at most."""
    return outputs_of(macs) // lanes * (2 if has_packed(macs) and macs != DEEP_MACS else 1)


def release_cycles(outputs: int, lanes: int) -> int:
    """Return the cycles from the last read of a group's weights until its bank is free.

    In that time its last operation has gone through the array and, beat by beat, read its
    parameters. The first beat of a fill is written two cycles later, as weights are read two cycles
    after their index.

    Parameters
    ----------
    outputs : int
        Results of one beat of the array.
    lanes : int
        Results per beat of the requantizer.
    """
    beats = 2 * outputs // lanes
    return CONV_CYCLES + NEXT_BEAT_CYCLES * (beats - 1) + PARAMETER_CYCLES


def refill_cycles(outputs: int, lanes: int, *, has_pairs: bool = False) -> int:
    """Return the cycles from the last operation of a group until its weights can be overwritten.

    Parameters
    ----------
    outputs, lanes : int
        As for `release_cycles`.
    has_pairs : bool
        Parameters wait by themselves.
    """
    release = WEIGHTS_RELEASE_CYCLES if has_pairs else release_cycles(outputs, lanes)
    return INPUT_CYCLES - WEIGHT_READ_CYCLES + release
