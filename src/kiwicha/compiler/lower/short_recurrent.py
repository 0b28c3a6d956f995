"""UNIDIRECTIONAL_SEQUENCE_LSTM of int16: a FULLY_CONNECTED for its gates, then its steps.

So what the inputs add is computed like any layer of int16, by an engine too if it has jobs for it.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.lower.added_parts import AddedParts
from kiwicha.compiler.quantization.recurrent_scales import GATE_SCALE
from kiwicha.compiler.tflite.graph import Graph, Operator, Options
from kiwicha.compiler.tflite.recurrent import (
    LSTM,
    LSTM_BIASES,
    LSTM_HIDDEN,
    LSTM_INPUT_WEIGHTS,
)
from kiwicha.compiler.tflite.tensor import TensorType, quantization
from kiwicha.kernels.lstm import GATES

__all__ = ["has_short_states", "with_gates_apart"]


def has_short_states(graph: Graph, operator: Operator) -> bool:
    """Whether an operator is an LSTM whose hidden state is int16."""
    return operator.name == LSTM and graph.input(operator, LSTM_HIDDEN).type is TensorType.INT16


def with_gates_apart(graph: Graph, order: Sequence[Operator]) -> tuple[Graph, tuple[Operator, ...]]:
    """Return a model in which LSTMs of int16 get what their inputs add to the gates.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    order : sequence of Operator
        Its operators as they are executed.

    Returns
    -------
    graph : Graph
        New operators are behind those that were there. The input of an LSTM of int16 is [first,
        second, 4 units], the gates of a unit next to each other.
    order : tuple of Operator
        All operators as they are executed.
    """
    if not any(has_short_states(graph, operator) for operator in graph.operators):
        return graph, tuple(order)
    parts = AddedParts(graph)
    executed: list[Operator] = []
    for operator in order:
        executed += _apart(parts, operator) if has_short_states(graph, operator) else [operator]
    return parts.graph(), tuple(executed)


def _apart(parts: AddedParts, operator: Operator) -> list[Operator]:
    graph = parts.model
    source, output = graph.input(operator), graph.output(operator)
    matrices = [graph.input(operator, position) for position in LSTM_INPUT_WEIGHTS]
    biases = [graph.input(operator, position).integers() for position in LSTM_BIASES]
    units = output.shape[-1]
    by_unit = np.stack([matrix.int8s() for matrix in matrices], axis=1)
    scales = np.array([quantization(matrix).scale for matrix in matrices], np.float32)
    weights = parts.channels(
        f"{output.name} weights of gates",
        by_unit.reshape(GATES * units, source.shape[-1]),
        np.tile(scales, units),
    )
    bias = parts.long_integers(f"{output.name} biases of gates", np.array(biases).T.reshape(-1))
    shape = (*source.shape[:-1], GATES * units)
    gates = parts.shorts(f"{output.name} gates", shape, GATE_SCALE)
    operands = [source.index, weights, bias]
    product = parts.operator("FULLY_CONNECTED", operands, gates, Options())
    changed = dataclasses.replace(operator, inputs=(gates, *operator.inputs[1:]))
    parts.replace(changed)
    return [product, changed]
