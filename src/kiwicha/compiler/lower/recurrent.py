"""Lowering of layers that keep tensors of their own between inferences."""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.memory_sharing import MemorySharing
from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.short_recurrent import has_short_states
from kiwicha.compiler.quantization.recurrent_scales import (
    cell_clip,
    cell_exponent,
    gate_scale,
    hidden_scale,
)
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.recurrent import (
    LSTM_BIASES,
    LSTM_CELL,
    LSTM_HIDDEN,
    LSTM_INPUT_WEIGHTS,
    LSTM_RECURRENT_WEIGHTS,
)
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.lstm import GATES, Lstm, LstmGates
from kiwicha.numerics.requantization import wrap_int32
from kiwicha.numerics.short_activations import points

__all__ = ["lower_lstm"]


def lower_lstm(graph: Graph, operator: Operator, sharing: MemorySharing) -> Layer:
    """Return the layer of a UNIDIRECTIONAL_SEQUENCE_LSTM: two kernel calls.

    That of one of int16 is a call, as `kiwicha.compiler.lower.short_recurrent` has left it.
    """
    source, output = graph.input(operator), graph.output(operator)
    if has_short_states(graph, operator):
        return _steps(graph, operator, Kernel.SHORT_LSTM, source.index)
    first, second, inputs = source.shape
    rows, units = first * second, output.shape[-1]
    added = sharing.temporary(operator, rows * units * GATES, TensorType.INT16)
    input_weights = [graph.input(operator, position) for position in LSTM_INPUT_WEIGHTS]
    input_scales = [gate_scale(quantization(source), quantization(w)) for w in input_weights]
    biases = np.array([graph.input(operator, at).int32s().reshape(-1) for at in LSTM_BIASES])
    return Layer(
        operator.index,
        operator.name,
        macs=rows * units * GATES * (inputs + units),
        kernel=Kernel.LSTM_GATES,
        params=LstmGates(
            input=Ref(),
            output=Ref(),
            weights=Ref(),
            bias=Ref(),
            rows=rows,
            inputs=inputs,
            units=units,
            multiplier=tuple(scale.multiplier for scale in input_scales),
            shift=tuple(scale.shift for scale in input_scales),
        ),
        tensors={"input": source.index, "output": added},
        constants={
            "weights": _by_unit(input_weights),
            "bias": _bias(input_weights, source, biases),
        },
        more=(_steps(graph, operator, Kernel.LSTM, added),),
    )


def _steps(graph: Graph, operator: Operator, kernel: Kernel, added: int) -> Layer:
    """Return the call for the steps, given the tensor of what inputs add to the gates."""
    output = graph.output(operator)
    hidden, cell = graph.input(operator, LSTM_HIDDEN), graph.input(operator, LSTM_CELL)
    first, second, units = output.shape
    is_time_major = bool(operator.options.is_time_major)
    steps, batches = (first, second) if is_time_major else (second, first)
    least, most = cell_clip(quantization(cell), operator.options.cell_clip)
    to_hidden = hidden_scale(quantization(hidden))
    recurrent = [graph.input(operator, position) for position in LSTM_RECURRENT_WEIGHTS]
    scales = [gate_scale(quantization(hidden), quantization(w)) for w in recurrent]
    constants: dict[str, Values] = {"weights": _by_unit(recurrent), "points": points()}
    if quantization(hidden).zero_point:
        constants["bias"] = _bias(recurrent, hidden, np.zeros((GATES, units), np.int32))
    return Layer(
        operator.index,
        operator.name,
        macs=batches * steps * units * GATES * units,
        kernel=kernel,
        params=Lstm(
            input=Ref(),
            output=Ref(),
            hidden=Ref(),
            cell=Ref(),
            weights=Ref(),
            bias=Ref(),
            points=Ref(),
            batches=batches,
            steps=steps,
            units=units,
            batch_rows=1 if is_time_major else steps,
            step_rows=batches if is_time_major else 1,
            multiplier=tuple(scale.multiplier for scale in scales),
            shift=tuple(scale.shift for scale in scales),
            cell_exponent=cell_exponent(quantization(cell)),
            cell_min=least,
            cell_max=most,
            hidden_multiplier=to_hidden.multiplier,
            hidden_shift=to_hidden.shift,
            hidden_offset=quantization(hidden).zero_point,
        ),
        tensors={
            "input": added,
            "output": output.index,
            "hidden": hidden.index,
            "cell": cell.index,
        },
        constants=constants,
    )


def _by_unit(weights: list[Tensor]) -> NDArray[np.int8]:
    """Return weights, int8 [4 units, inputs]: the gates of a unit are next to each other."""
    each = np.stack([tensor.int8s() for tensor in weights], axis=1)
    return np.ascontiguousarray(each.reshape(-1, each.shape[-1]))


def _bias(weights: list[Tensor], source: Tensor, biases: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return biases, int32 [4 units], with what the zero point of the source adds."""
    sums = np.stack([tensor.int8s().astype(np.int64).sum(axis=1) for tensor in weights])
    total = biases - quantization(source).zero_point * sums
    return wrap_int32(total.T.reshape(-1)).astype(np.int32)
