"""A step of an LSTM of int8 or int16, whose cell state is int16.

Notes
-----
Ref: tensorflow/lite/micro/kernels/lstm_eval.{h,cc} and lstm_eval_common.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.recurrences import FRACTION_BITS
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier
from kiwicha.numerics.short_activations import logistic_16, tanh_16

__all__ = ["CellScales", "lstm_step", "saturated_shorts"]

Int64s = NDArray[np.int64]

_POWER = 1 << 30
"""The multiplier of a power of two."""


@dataclass(frozen=True)
class CellScales:
    """Scales of the states of an LSTM.

    Parameters
    ----------
    cell_exponent : int
        The cell state's scale is 2 to the power of it, -15 to 0.
    cell_min, cell_max : int
        Its clamp.
    hidden_multiplier, hidden_shift : int
        Scale of products of 15 and 15 bits, to the hidden state.
    hidden_offset : int
        Zero point of the hidden state.
    hidden_min, hidden_max : int
        Its limits: those of its type.
    """

    cell_exponent: int
    cell_min: int
    cell_max: int
    hidden_multiplier: int
    hidden_shift: int
    hidden_offset: int
    hidden_min: int = -128
    hidden_max: int = 127


def saturated_shorts(x: Int64s) -> Int64s:
    """Return numbers limited to int16."""
    return x.clip(-(2**15), 2**15 - 1)


def lstm_step(
    input_sums: Int64s, hidden_sums: Int64s, cell: Int64s, scales: CellScales
) -> tuple[Int64s, Int64s]:
    """Return the next cell state and the next hidden state.

    Parameters
    ----------
    input_sums, hidden_sums : int16 [..., units, 4]
        What the input and the hidden state add to each gate, in 1/4,096; the gates are those of
        input, forgetting, cell and output.
    cell : int16 [..., units]
        The cell state.
    scales : CellScales
        Of the layer.
    """
    total = saturated_shorts(input_sums + hidden_sums)
    enter, keep, leave = (logistic_16(total[..., gate]) for gate in (0, 1, 3))
    new = enter * tanh_16(total[..., 2])
    # Products are in 2**-30, or in 2**-15 cell scales.
    to_cell = 1 - 2 * FRACTION_BITS - scales.cell_exponent
    kept = multiply_by_quantized_multiplier(keep * cell, _POWER, 1 - FRACTION_BITS)
    entered = multiply_by_quantized_multiplier(new, _POWER, to_cell)
    following = saturated_shorts(saturated_shorts(kept) + saturated_shorts(entered))
    following = following.clip(scales.cell_min, scales.cell_max)
    left = tanh_16(following, scales.cell_exponent) * leave
    scaled = multiply_by_quantized_multiplier(left, scales.hidden_multiplier, scales.hidden_shift)
    hidden = scaled + scales.hidden_offset
    return following, hidden.clip(scales.hidden_min, scales.hidden_max)
