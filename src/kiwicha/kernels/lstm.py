"""UNIDIRECTIONAL_SEQUENCE_LSTM: what inputs add to the gates, and then step after step.

Gates are those of input, forgetting, cell and output, in this order.

Notes
-----
Ref: tensorflow/lite/micro/kernels/lstm_eval.{h,cc} and lstm_eval_common.cc.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier, wrap_int32
from kiwicha.numerics.short_activations import logistic_16, tanh_16

__all__ = ["GATES", "KERNELS", "Lstm", "LstmGates", "gates", "sequence"]

GATES = 4
_POWER = 1 << 30
"""The multiplier of a power of two."""
_FRACTION_BITS = 15
"""Of what the functions give."""


@dataclass(frozen=True)
class LstmGates(Struct):
    """What the inputs add to the gates of UNIDIRECTIONAL_SEQUENCE_LSTM, at all its steps.

    Each sum is rescaled and clamped to int16, in 1/4,096.
    """

    input: Ref = ref("int8 [rows, inputs]")
    output: Ref = ref("int16 [rows, units, 4]")
    weights: Ref = ref("int8 [units, 4, inputs]; SIMD: as of a convolution with 4 units channels")
    bias: Ref = ref("int32 [units, 4], with what the zero point of the input adds")
    rows: int = u32("batches times steps")
    inputs: int = u32("size of an input")
    units: int = u32("size of the state")
    multiplier: tuple[int, ...] = array("i32", GATES, "of each gate's scale")
    shift: tuple[int, ...] = array("i32", GATES, "of each gate's scale")


@dataclass(frozen=True)
class Lstm(Struct):
    """The steps of UNIDIRECTIONAL_SEQUENCE_LSTM, of one batch after the other.

    Row ``batch * batch_rows + step * step_rows`` of input and output is that of a step. A step adds
    to each gate what the hidden state does, and gives the next hidden state, which is its output.
    """

    input: Ref = ref("int16 [rows, units, 4], of LSTM_GATES")
    output: Ref = ref("int8 [rows, units]")
    hidden: Ref = ref("int8 [batches, units]: state, written")
    cell: Ref = ref("int16 [batches, units]: state, written")
    weights: Ref = ref("int8 [units, 4, units]; SIMD: as of a convolution with 4 units channels")
    bias: Ref = ref("int32 [units, 4]: what the zero point of the hidden state adds; or none: 0")
    points: Ref = ref("int16 [257], constant: numerics.short_activations.points")
    batches: int = u32("sequences")
    steps: int = u32("of each")
    units: int = u32("size of the state")
    batch_rows: int = u32("rows from one batch to the next")
    step_rows: int = u32("rows from one step to the next")
    multiplier: tuple[int, ...] = array("i32", GATES, "of each gate's scale")
    shift: tuple[int, ...] = array("i32", GATES, "of each gate's scale")
    cell_exponent: int = i32("the cell state's scale is 2 to the power of it, -15 to 0")
    cell_min: int = i32("its clamp")
    cell_max: int = i32("its clamp")
    hidden_multiplier: int = i32("of the scale of products of 15 and 15 bits")
    hidden_shift: int = i32("of that scale")
    hidden_offset: int = i32("zero point of the hidden state and the output")


def _shorts(x: NDArray[np.int64]) -> NDArray[np.int64]:
    return x.clip(-(2**15), 2**15 - 1)


def gates(memory: Memory, p: LstmGates, weights: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return what inputs add to the gates, given the weights, int8 [4 units, inputs]."""
    x = memory.load(p.input, np.int8, (p.rows, p.inputs)).astype(np.int64)
    bias = memory.load(p.bias, np.int32, (GATES * p.units,)).astype(np.int64)
    sums = wrap_int32(x @ weights.T.astype(np.int64) + bias)
    scales = np.tile(p.multiplier, p.units), np.tile(p.shift, p.units)
    return _shorts(multiply_by_quantized_multiplier(sums, *scales)).astype(np.int16)


def sequence(memory: Memory, p: Lstm, weights: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the outputs of all steps, given the weights, int8 [4 units, units]; write states."""
    rows = p.batches * p.steps
    added = memory.load(p.input, np.int16, (rows, p.units, GATES)).astype(np.int64)
    hidden = memory.load(p.hidden, np.int8, (p.batches, p.units)).astype(np.int64)
    cell = memory.load(p.cell, np.int16, (p.batches, p.units)).astype(np.int64)
    bias = np.zeros(GATES * p.units, np.int64)
    if p.bias.bytes:
        bias += memory.load(p.bias, np.int32, (GATES * p.units,))
    scales = np.tile(p.multiplier, p.units), np.tile(p.shift, p.units)
    output = np.empty((rows, p.units), np.int64)
    first = np.arange(p.batches) * p.batch_rows
    # Products are in 2**-30, or in 2**-15 cell scales.
    to_cell = 1 - 2 * _FRACTION_BITS - p.cell_exponent
    for step in range(p.steps):
        at = first + step * p.step_rows
        sums = wrap_int32(hidden @ weights.T.astype(np.int64) + bias)
        recurrent = _shorts(multiply_by_quantized_multiplier(sums, *scales))
        total = _shorts(added[at] + recurrent.reshape(p.batches, p.units, GATES))
        enter, keep, leave = (logistic_16(total[..., gate]) for gate in (0, 1, 3))
        new = enter * tanh_16(total[..., 2])
        kept = multiply_by_quantized_multiplier(keep * cell, _POWER, 1 - _FRACTION_BITS)
        entered = multiply_by_quantized_multiplier(new, _POWER, to_cell)
        cell = _shorts(_shorts(kept) + _shorts(entered)).clip(p.cell_min, p.cell_max)
        left = tanh_16(cell, p.cell_exponent) * leave
        scaled = multiply_by_quantized_multiplier(left, p.hidden_multiplier, p.hidden_shift)
        hidden = (scaled + p.hidden_offset).clip(-128, 127)
        output[at] = hidden
    for state, values in ((p.hidden, hidden.astype("<i1")), (p.cell, cell.astype("<i2"))):
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        memory.scatter(state, np.arange(raw.size, dtype=np.int64), raw)
    return output.astype(np.int8)


def _gates(memory: Memory, p: LstmGates) -> NDArray[np.int16]:
    return gates(memory, p, memory.load(p.weights, np.int8, (GATES * p.units, p.inputs)))


def _sequence(memory: Memory, p: Lstm) -> NDArray[np.int8]:
    return sequence(memory, p, memory.load(p.weights, np.int8, (GATES * p.units, p.units)))


def _gates_work(p: LstmGates) -> Work:
    outputs = p.rows * p.units * GATES
    return Work(outputs, outputs * p.inputs)


def _sequence_work(p: Lstm) -> Work:
    outputs = p.batches * p.steps * p.units
    return Work(outputs, outputs * GATES * p.units)


KERNELS = (
    Declaration(
        kernel=Kernel.LSTM_GATES,
        params=LstmGates,
        reference=_gates,
        is_on_demand=True,
        cost=Cost(step=400.0, output=47.0, unit=12.2),
        work=_gates_work,
    ),
    Declaration(
        kernel=Kernel.LSTM,
        params=Lstm,
        reference=_sequence,
        is_on_demand=True,
        optional=("bias",),
        states=("hidden", "cell"),
        cost=Cost(step=600.0, output=470.0, unit=12.3),
        work=_sequence_work,
    ),
)
