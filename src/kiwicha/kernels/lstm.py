"""UNIDIRECTIONAL_SEQUENCE_LSTM: what inputs add to the gates, and then step after step.

Gates are those of input, forgetting, cell and output, in this order.

Notes
-----
Ref: tensorflow/lite/micro/kernels/lstm_eval.{h,cc} and lstm_eval_common.cc.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, array, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.contract.recurrences import GATES
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.long_sums import rescale_long
from kiwicha.numerics.lstm_steps import CellScales, lstm_step, saturated_shorts
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier, wrap_int32

__all__ = ["GATES", "KERNELS", "Lstm", "LstmGates", "gates", "sequence", "sequence_work"]

Int64s = NDArray[np.int64]


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

    input: Ref = ref("int16 [rows, units, 4], of LSTM_GATES or SHORT_CONV")
    output: Ref = ref("int8 [rows, units]; of SHORT_LSTM int16")
    hidden: Ref = ref("of the output's type [batches, units]: state, written")
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


def gates(memory: Memory, p: LstmGates, weights: NDArray[np.int8]) -> NDArray[np.int16]:
    """Return what inputs add to the gates, given the weights, int8 [4 units, inputs]."""
    x = memory.load(p.input, np.int8, (p.rows, p.inputs)).astype(np.int64)
    bias = memory.load(p.bias, np.int32, (GATES * p.units,)).astype(np.int64)
    sums = wrap_int32(x @ weights.T.astype(np.int64) + bias)
    scales = np.tile(p.multiplier, p.units), np.tile(p.shift, p.units)
    return saturated_shorts(multiply_by_quantized_multiplier(sums, *scales)).astype(np.int16)


def sequence(
    memory: Memory, p: Lstm, weights: NDArray[np.int8], kind: type[np.integer[Any]] = np.int8
) -> NDArray[np.integer[Any]]:
    """Return the outputs of all steps, and write states.

    Parameters
    ----------
    memory : Memory
        Of the Program.
    p : Lstm
        Of the step.
    weights : int8 [4 units, units]
        What the hidden state is multiplied by.
    kind : type
        Of the hidden state: int8, or int16, whose sums have 64 bits.
    """
    rows = p.batches * p.steps
    added = memory.load(p.input, np.int16, (rows, p.units, GATES)).astype(np.int64)
    hidden = memory.load(p.hidden, kind, (p.batches, p.units)).astype(np.int64)
    cell = memory.load(p.cell, np.int16, (p.batches, p.units)).astype(np.int64)
    bias = np.zeros(GATES * p.units, np.int64)
    if p.bias.bytes:
        bias += memory.load(p.bias, np.int32, (GATES * p.units,))
    scales = np.tile(p.multiplier, p.units), np.tile(p.shift, p.units)
    output = np.empty((rows, p.units), np.int64)
    first = np.arange(p.batches) * p.batch_rows
    limits = np.iinfo(kind)
    cell_scales = CellScales(
        cell_exponent=p.cell_exponent,
        cell_min=p.cell_min,
        cell_max=p.cell_max,
        hidden_multiplier=p.hidden_multiplier,
        hidden_shift=p.hidden_shift,
        hidden_offset=p.hidden_offset,
        hidden_min=int(limits.min),
        hidden_max=int(limits.max),
    )
    for step in range(p.steps):
        at = first + step * p.step_rows
        sums = hidden @ weights.T.astype(np.int64) + bias
        recurrent = saturated_shorts(_rescaled(sums, scales, kind))
        recurrent = recurrent.reshape(p.batches, p.units, GATES)
        cell, hidden = lstm_step(added[at], recurrent, cell, cell_scales)
        output[at] = hidden
    stored = np.dtype(kind).newbyteorder("<")
    for state, values in ((p.hidden, hidden.astype(stored)), (p.cell, cell.astype("<i2"))):
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        memory.scatter(state, np.arange(raw.size, dtype=np.int64), raw)
    return output.astype(kind)


def _rescaled(sums: Int64s, scales: tuple[Int64s, Int64s], kind: type[np.integer[Any]]) -> Int64s:
    if kind is np.int16:
        return rescale_long(sums, *scales)
    return multiply_by_quantized_multiplier(wrap_int32(sums), *scales)


def _gates(memory: Memory, p: LstmGates) -> NDArray[np.int16]:
    return gates(memory, p, memory.load(p.weights, np.int8, (GATES * p.units, p.inputs)))


def _sequence(memory: Memory, p: Lstm) -> NDArray[np.integer[Any]]:
    return sequence(memory, p, memory.load(p.weights, np.int8, (GATES * p.units, p.units)))


def _gates_work(p: LstmGates) -> Work:
    outputs = p.rows * p.units * GATES
    return Work(outputs, outputs * p.inputs)


def sequence_work(p: Lstm) -> Work:
    """Return what the steps of an LSTM do."""
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
        work=sequence_work,
    ),
)
