"""Layers that keep tensors of their own between inferences: where these are among the inputs."""

import dataclasses
from collections.abc import Iterator

from kiwicha.compiler.tflite.graph import Graph, Operator, State
from kiwicha.compiler.tflite.tensor import Tensor, TensorType

__all__ = [
    "LSTM",
    "LSTM_BIASES",
    "LSTM_CELL",
    "LSTM_HIDDEN",
    "LSTM_INPUT_WEIGHTS",
    "LSTM_OPERANDS",
    "LSTM_RECURRENT_WEIGHTS",
    "SVDF",
    "SVDF_BIAS",
    "SVDF_FEATURES",
    "SVDF_STATE",
    "SVDF_TIME",
    "kept_tensors",
    "with_kept_tensors",
]

LSTM = "UNIDIRECTIONAL_SEQUENCE_LSTM"
LSTM_INPUT_WEIGHTS = (1, 2, 3, 4)
"""For the gates of input, forgetting, cell and output."""
LSTM_RECURRENT_WEIGHTS = (5, 6, 7, 8)
LSTM_BIASES = (12, 13, 14, 15)
LSTM_HIDDEN, LSTM_CELL = 18, 19
LSTM_OPERANDS = 24
SVDF = "SVDF"
SVDF_FEATURES, SVDF_TIME, SVDF_BIAS, SVDF_STATE = 1, 2, 3, 4
"""Weights of features and of time, and others."""

_KEPT = {LSTM: (LSTM_HIDDEN, LSTM_CELL), SVDF: (SVDF_STATE,)}
"""Inputs that an operator reads and writes."""


def kept_tensors(graph: Graph, operator: Operator) -> Iterator[Tensor]:
    """Yield the tensors that an operator keeps between inferences."""
    for position in _KEPT.get(operator.name, ()):
        tensor = graph.operand(operator, position)
        if tensor is not None:
            yield tensor


def with_kept_tensors(graph: Graph) -> Graph:
    """Return a model whose states are known that operators read and write where they lie.

    Those of int8 in SVDF are not among them: `kiwicha.compiler.lower.svdf` keeps other tensors.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    """
    states = tuple(
        State(tensor.name, tensor.index, tensor.index, operator.index, first_value(tensor))
        for operator in graph.operators
        for tensor in kept_tensors(graph, operator)
        if tensor.type is not TensorType.INT8 or operator.name == LSTM
    )
    return dataclasses.replace(graph, states=(*graph.states, *states)) if states else graph


def first_value(tensor: Tensor) -> bytes:
    """Return what a variable tensor is at first: its zero point, if it is of bytes.

    Notes
    -----
    Ref: tensorflow/lite/micro/micro_interpreter_graph.cc, ResetTensorData.
    """
    is_byte = tensor.type is TensorType.INT8 and tensor.quantization is not None
    value = tensor.quantization.zero_point & 0xFF if is_byte and tensor.quantization else 0
    return bytes([value]) * tensor.stored_bytes
