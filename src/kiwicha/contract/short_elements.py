"""SHORT_ELEMENTS jobs of the engine: element-wise operators of int16, and largest numbers."""

import enum
from dataclasses import dataclass

from kiwicha.contract.engine import outputs_of
from kiwicha.contract.layout import Struct, i8, i16, i32, u8, u16, u32

__all__ = [
    "ELEMENT_LANES",
    "FUNCTION_BITS",
    "MAX_FUNCTION_ARGUMENT",
    "OPERAND_SHIFT",
    "PAIRS",
    "SHORT_BYTES",
    "EngineShortElements",
    "ShortForm",
    "ShortOperator",
    "has_short_elements",
]

SHORT_BYTES = 2
ELEMENT_LANES = 8
"""Numbers of a beat."""
OPERAND_SHIFT = 15
"""Bits to the left of operands of ADD and SUB, in front of their multipliers."""
FUNCTION_BITS = 16
"""Of arguments of LOGISTIC and TANH behind the point of their multiplier."""
MAX_FUNCTION_ARGUMENT = 255 * 512 - 1
"""Largest size of an argument of LOGISTIC and TANH in 1/12,288: behind it results do not change."""


def has_short_elements(macs: int, *, has_int16: bool) -> bool:
    """Return whether an engine has SHORT_ELEMENTS jobs: with int16, and results for all lanes."""
    return has_int16 and outputs_of(macs) >= ELEMENT_LANES


class ShortOperator(enum.IntEnum):
    """What a SHORT_ELEMENTS job computes."""

    ADD = 0
    """Both numbers shifted to the left by `OPERAND_SHIFT`, each times its scale; the sum times the
    output's."""
    SUB = 1
    """The same of the difference."""
    MUL = 2
    """The product, times the output's scale."""
    LEAKY_RELU = 3
    """Numbers of 0 or more times the output's scale, others times the second one."""
    MAX = 4
    """The largest number of a window, times the output's scale, which is that of 1."""
    LOGISTIC = 5
    """The logistic function in Q0.15. Its argument in 1/12,288 is the number times ``multiplier_1 /
    2**FUNCTION_BITS``, rounded half up; the output's scale is that of 1."""
    TANH = 6
    """Tanh likewise."""


PAIRS = frozenset({ShortOperator.ADD, ShortOperator.SUB, ShortOperator.MUL})
"""Operators of two tensors."""


class ShortForm(enum.IntEnum):
    """How numbers lie in the scratchpad."""

    PLANES = 0
    """Lower bytes, and ``upper_step`` behind them upper ones: of results ``-output_lower_step``."""
    WHOLE = 1
    """Both bytes of a number behind each other; addresses of outputs are multiples of 16."""


@dataclass(frozen=True)
class EngineShortElements(Struct):
    """A job of kind SHORT_ELEMENTS, as long as any `EngineJob` and with the same first fields.

    It has beats of `ELEMENT_LANES` numbers: for each block, row and column, in this order. Beats of
    a block are 8 bytes behind those of the block before, 16 in the WHOLE form, in all tensors. MAX:
    a beat is the largest of a window, kernel_rows rows of kernel_columns beats. Results are rounded
    as those of TFLite Micro (`kiwicha.numerics.requantization`), and limited by the clamp of upper
    bytes; lower ones become 0 or 255 with these.

    A scale is a multiplier, 2**30 to 2**31 - 1 or 0, and a shift, positive to the left. Those of
    operands of ADD and SUB do not go to the left. In LOGISTIC and TANH multiplier_1 is any number.

    A result may take the place of the number that it is computed from. All bytes of a job are in
    the scratchpad when the next one starts. Addresses wrap as in other jobs. There is no weight
    stream.

    Cycles of a beat: `kiwicha.contract.latencies.short_beat_cycles`.
    """

    kind: int = u8("JobKind.SHORT_ELEMENTS")
    interval: int = u8("1")
    flags: int = u16("JobFlag.WIDE | JobFlag.SHORT")
    wait_transfers: int = u16("transfers that must be complete")
    groups: int = u16("1")
    first_address: int = i32("scratchpad address of the first number, in planes of its lower byte")
    output_address: int = u32("that of the first result, in planes of its upper byte")
    second_address: int = u32("ADD, SUB, MUL: that of the first number of the second tensor")
    row_step: int = u32("from the last column of a row to the first one of the next, modulo 2**32")
    second_row_step: int = u32("likewise")
    output_row_step: int = u32("likewise")
    column_step: int = u16("from a column to the next")
    second_column_step: int = u16("likewise; 0 where the second tensor has one pixel")
    output_column_step: int = u16("likewise, a multiple of 8, WHOLE: of 16")
    rows: int = u16("1 or more")
    columns: int = u16("1 or more")
    blocks: int = u16("1 or more")
    upper_step: int = u16("PLANES: from lower bytes of inputs to upper ones")
    operator: int = u8("ShortOperator")
    form: int = u8("ShortForm")
    multiplier_1: int = i32("of the first operand")
    reserved_byte: int = u8("0")
    output_zero_point: int = i8("0")
    activation_min: int = i8("clamp of upper bytes")
    activation_max: int = i8("clamp of upper bytes")
    multiplier_2: int = i32("of the second operand; LEAKY_RELU: of negative numbers")
    output_multiplier: int = i32("of the result")
    shift_1: int = i8("of the first operand, -31 to 0")
    shift_2: int = i8("of the second operand, -31 to 0; LEAKY_RELU: -31 to 30")
    output_shift: int = i8("of the result, -31 to 30")
    reserved_word: int = u8("0")
    kernel_rows: int = u8("MAX: of a window; else 1")
    kernel_columns: int = u8("MAX: of a window; else 1")
    kernel_column_step: int = u16("MAX: from a column of a window to the next")
    output_lower_step: int = u32("PLANES: from upper bytes of results to lower ones, modulo 2**32")
    kernel_row_step: int = u32("MAX: from the last column of a window's row to the next one")
    reserved_sums: int = u16("0")
    wait_rows: int = u16("0")
    reserved_half: int = i16("0")
    reserved_half_2: int = i16("0")
    reserved_end: int = u32("0")
    layer: int = u8("for reports: number of its layer, counted from that of the step")
    reserved_1: int = u8("0")
    reserved_2: int = u16("0")
