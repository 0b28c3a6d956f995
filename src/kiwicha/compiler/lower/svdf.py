"""SVDF: with a state of int16 a kernel's, with one of int8 operators that are there already.

Its features are a FULLY_CONNECTED, whose results are joined to those of earlier inferences; its
filters over time are a depthwise convolution of them, one of groups if the rank is not 1. In the
file the state of a filter lies together; here a row of all filters does, and what is kept is a ring
buffer of rows.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.lower.added_parts import AddedParts
from kiwicha.compiler.lower.convolutions import lower_conv, lower_depthwise
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.tables import ALL_BYTES, table_layer
from kiwicha.compiler.quantization.recurrent_scales import feature_ratio, time_ratio
from kiwicha.compiler.tflite.graph import Graph, Operator, Options, State
from kiwicha.compiler.tflite.recurrent import (
    SVDF,
    SVDF_BIAS,
    SVDF_FEATURES,
    SVDF_STATE,
    SVDF_TIME,
)
from kiwicha.compiler.tflite.tensor import TensorType, quantization
from kiwicha.contract.engine import MAX_DEPTHWISE_COLUMNS
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.svdf import Svdf
from kiwicha.numerics.requantization import quantize_multiplier, wrap_int32

__all__ = ["is_split", "lower_svdf", "with_split_filters"]


def is_split(graph: Graph, operator: Operator) -> bool:
    """Whether an operator is an SVDF whose state is int8."""
    return operator.name == SVDF and graph.input(operator, SVDF_STATE).type is TensorType.INT8


def with_split_filters(
    graph: Graph, order: Sequence[Operator]
) -> tuple[Graph, tuple[Operator, ...]]:
    """Return a model in which no SVDF has a state of int8, and its operators in order.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    order : sequence of Operator
        Its operators as they are executed.

    Returns
    -------
    graph : Graph
        New operators are behind those that were there.
    order : tuple of Operator
        All operators as they are executed. What an SVDF has become ends with it.
    """
    parts = _Parts(graph)
    executed: list[Operator] = []
    for operator in order:
        executed += parts.of(operator) if is_split(graph, operator) else [operator]
    return parts.graph(), tuple(executed)


def lower_svdf(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of an SVDF with a state of int16, or of what another one has become.

    With one input it adds a zero point to clamped results, which TensorFlow Lite Micro lets wrap.
    """
    if len(operator.inputs) > SVDF_STATE:
        return _lower_shorts(graph, operator)
    if len(operator.inputs) == 1:
        offset = quantization(graph.output(operator)).zero_point
        return table_layer(operator, (ALL_BYTES + offset).astype(np.int8).astype(np.int64))
    filters = graph.input(operator).shape[-1]
    units = graph.output(operator).shape[-1]
    return (lower_depthwise if filters == units else lower_conv)(graph, operator)


def _lower_shorts(graph: Graph, operator: Operator) -> Layer:
    source, output = graph.input(operator), graph.output(operator)
    features, time = graph.input(operator, SVDF_FEATURES), graph.input(operator, SVDF_TIME)
    state, bias = graph.input(operator, SVDF_STATE), graph.input(operator, SVDF_BIAS)
    (batches, inputs), (filters, steps) = source.shape, time.shape
    a, b, c, d = (quantization(item) for item in (source, features, state, time))
    to_state = quantize_multiplier(feature_ratio(a, b, c))
    to_output = quantize_multiplier(time_ratio(c, d, quantization(output)))
    weights = features.int8s()
    added = -a.zero_point * weights.astype(np.int64).sum(axis=1)
    assert time.data is not None
    return Layer(
        operator.index,
        operator.name,
        macs=batches * filters * (inputs + steps),
        kernel=Kernel.SVDF,
        params=Svdf(
            input=Ref(),
            output=Ref(),
            state=Ref(),
            features=Ref(),
            feature_bias=Ref(),
            time=Ref(),
            bias=Ref(),
            batches=batches,
            inputs=inputs,
            units=output.shape[-1],
            rank=operator.options.rank,
            steps=steps,
            state_multiplier=to_state[0],
            state_shift=to_state[1],
            output_multiplier=to_output[0],
            output_shift=to_output[1],
            output_offset=quantization(output).zero_point,
        ),
        tensors={"input": source.index, "output": output.index, "state": state.index},
        constants={
            "features": weights,
            "feature_bias": wrap_int32(added).astype(np.int32),
            "time": time.data.view("<i2").reshape(time.shape),
            "bias": bias.int32s(),
        },
    )


class _Parts(AddedParts):
    """What SVDFs become, and the states of these."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._states = list(graph.states)

    def graph(self) -> Graph:
        """Return the model with them."""
        return dataclasses.replace(super().graph(), states=tuple(self._states))

    def of(self, operator: Operator) -> list[Operator]:
        """Return what an SVDF becomes."""
        graph = self.model
        source, output = graph.input(operator), graph.output(operator)
        features, time = graph.input(operator, SVDF_FEATURES), graph.input(operator, SVDF_TIME)
        state, bias = graph.input(operator, SVDF_STATE), graph.input(operator, SVDF_BIAS)
        batches, (filters, steps) = source.shape[0], time.shape
        rank, zero_point = operator.options.rank, quantization(state).zero_point
        added: list[Operator] = []

        def tensor(what: str, shape: Sequence[int], scale: float, offset: int = 0) -> int:
            return self.tensor(f"{output.name} {what}", shape, scale, offset)

        def add(name: str, inputs: Sequence[int], target: int, options: Options) -> None:
            added.append(self.operator(name, inputs, target, options))

        # A product of two of its factors over the third one is exact in double: a scale of the
        # weights is what results are multiplied by if input and output have the same scale.
        a, b, c, d = (quantization(item) for item in (source, features, state, time))
        last = quantization(output)
        row = (batches, 1, 1, filters)
        found = tensor("features", row, a.scale)
        weights = self.constant("weights of features", features.int8s(), feature_ratio(a, b, c))
        add("FULLY_CONNECTED", [source.index, weights], found, Options())
        new = tensor("newest", row, last.scale, zero_point)
        add(SVDF if zero_point else "RESHAPE", [found], new, Options())
        joined = new
        if steps > 1:
            kept = (batches, steps - 1, 1, filters)
            before, after = (
                tensor(f"state {when}", kept, last.scale, zero_point)
                for when in ("before", "after")
            )
            joined = tensor("state", (batches, steps, 1, filters), last.scale, zero_point)
            add("CONCATENATION", [before, new], joined, Options(axis=1))
            positions = [self.integers(values) for values in ((0, 1, 0, 0), kept)]
            slicing = self.operator("SLICE", [joined, *positions], after, Options())
            raw = bytes([zero_point & 0xFF]) * (batches * (steps - 1) * filters)
            self._states.append(State(state.name, before, after, slicing.index, raw))
        # A window has as many columns as depthwise jobs take at a time: few weights are zeros.
        columns = max(size for size in range(1, MAX_DEPTHWISE_COLUMNS + 1) if steps % size == 0)
        rows = steps // columns
        image = joined
        if columns > 1:
            shape = (batches, rows, columns, filters)
            image = tensor("image of time", shape, last.scale, zero_point)
            add("RESHAPE", [joined], image, Options())
        values = time.int8s().T.reshape(rows, columns, -1, rank)
        values = values.transpose(3, 0, 1, 2) if rank == 1 else values.transpose(2, 0, 1, 3)
        filtering = self.constant("weights of time", values, time_ratio(c, d, last))
        result = tensor("of time", (batches, 1, 1, filters // rank), last.scale, last.zero_point)
        changed = dataclasses.replace(
            operator, inputs=(image, filtering, bias.index), outputs=(result,), options=Options()
        )
        self.replace(changed)
        add("RESHAPE", [result], output.index, Options())
        reshape = added.pop()
        moved = [slicing] if steps > 1 else []
        return [*added, changed, reshape, *moved]
