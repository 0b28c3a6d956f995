"""RECURRENT jobs of the engine: a step of an LSTM, from the sums of its gates to its states.

The points of logistic function and tanh are here, too, which CPU and engine share.

Notes
-----
Ref: tensorflow/lite/kernels/internal/common.h in tflite-micro (the points).
"""

import math
from dataclasses import dataclass

from kiwicha.contract.layout import Struct, array, i8, i16, i32, u8, u16, u32

__all__ = [
    "FRACTION_BITS",
    "GATES",
    "GATE_BYTES",
    "MAX_CELL_SHIFT",
    "MAX_HIDDEN_SHIFT",
    "POINTS",
    "POINTS_ONE",
    "EngineRecurrence",
    "function_points",
    "logistic_points",
]

GATES = 4
"""Gates of a unit: of input, forgetting, cell and output, in this order."""
GATE_BYTES = 2
"""Of the sum of a gate, an int16."""
FRACTION_BITS = 15
"""Of what the functions of gates give."""
POINTS = 257
"""Entries of the table of the functions."""
POINTS_ONE = 1 << 16
"""What the points of the logistic function count as 1."""
_PER_UNIT = 24
"""Points for an argument's difference of 1."""
MAX_CELL_SHIFT = 15
"""Largest `EngineRecurrence.cell_shift`: the cell state's scale is 1 then."""
MAX_HIDDEN_SHIFT = 31
"""Largest `EngineRecurrence.hidden_shift`."""


@dataclass(frozen=True)
class EngineRecurrence(Struct):
    """A job of kind RECURRENT, as long as any `EngineJob` and with the same first fields.

    Each of its units has `GATES` sums of the input and as many of the hidden state, int16 in
    1/4,096. Upper bytes of all units lie behind each other, as jobs with `JobFlag.SHORT` write
    them, and lower bytes likewise, ``lower_step`` behind them. Both sums of a gate are added and
    saturated. By the functions of `kiwicha.numerics.lstm_steps` they change the cell state, an
    int16 in place, of which with them the hidden state follows. It is written twice: as an int8,
    or with `JobFlag.SHORT` as an int16, to the output, and to where the next product reads it,
    which of int16 are planes of lower and of upper bytes. All of it is what TFLite Micro's
    UNIDIRECTIONAL_SEQUENCE_LSTM of int8, and with the flag that of int16, gives.

    What is read and what is written do not overlap, but for the cell state: this is the compiler's
    duty. All bytes of a job are in the scratchpad when the next one starts. Addresses wrap as in
    other jobs. There is no weight stream.

    Cycles: `RECURRENT_UNIT_CYCLES` for each unit, whatever its hidden state is.
    """

    kind: int = u8("JobKind.RECURRENT")
    interval: int = u8("1")
    flags: int = u16("JobFlag.SHORT of a hidden state of int16; else 0")
    wait_transfers: int = u16("transfers that must be complete")
    groups: int = u16("1")
    input_sums: int = i32("scratchpad address of the upper bytes of the sums of the input")
    output: int = u32("that of the output, the next hidden state; of int16 a multiple of 2")
    hidden_sums: int = u32("that of the upper bytes of the sums of the hidden state")
    hidden: int = u32("that of the hidden state, its lower bytes of int16; it is written only")
    cell: int = u32("that of the cell state, int16, a multiple of 2")
    lower_step: int = i16("from upper bytes of sums to lower ones, which can be before them")
    units: int = u16("1 or more")
    hidden_multiplier: int = i32("of the scale of products of 15 and 15 bits, 2**30 to 2**31 - 1")
    hidden_shift: int = u8("bits to the right of that scale, 1 to 31")
    hidden_zero_point: int = i8("added to the hidden state")
    cell_shift: int = u8("the cell state's scale is 2**(cell_shift - 15), 0 to 15")
    reserved_byte: int = u8("0")
    cell_min: int = i16("clamp of the cell state")
    cell_max: int = i16("clamp of the cell state")
    upper_step: int = u16("from lower bytes of a hidden state of int16 to upper ones; else 0")
    reserved_half: int = u16("0")
    reserved: tuple[int, ...] = array("u32", 8, "0")
    reserved_sums: int = u16("0")
    wait_rows: int = u16("0")
    reserved_end: tuple[int, ...] = array("u32", 2, "0")
    layer: int = u8("for reports: number of its layer, counted from that of the step")
    reserved_1: int = u8("0")
    reserved_2: int = u16("0")


def logistic_points() -> tuple[int, ...]:
    """Return the logistic function of 0, 1/24, and so on, in 1/65,536: `POINTS` less one.

    Each is moved by half of what the line to the next one is wrong in its middle; the last is the
    largest number of 16 bits.
    """

    def function(at: float) -> float:
        return POINTS_ONE / (1 + math.exp(-at / _PER_UNIT))

    middles = ((function(k) + function(k + 1)) / 2 - function(k + 0.5) for k in range(POINTS - 2))
    moved = (round(function(k) - middle / 2) for k, middle in enumerate(middles))
    return (*moved, POINTS_ONE - 1)


def function_points() -> tuple[int, ...]:
    """Return the table of both functions; the last two of its `POINTS` entries are equal.

    It has tanh in Q0.15, and the logistic function in Q0.16, less a half.
    """
    return tuple(point - POINTS_ONE // 2 for point in (*logistic_points(), POINTS_ONE - 1))
