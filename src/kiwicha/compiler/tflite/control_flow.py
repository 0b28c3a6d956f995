"""Conditions and loops: subgraphs whose conditions follow from constants are parts of the model.

A branch of IF that is never taken goes, and the rounds of WHILE stand one after the other, as GRU
and other layers need them that converters write as loops over a sequence.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph, Operator
from kiwicha.compiler.tflite.shape_folding import with_folded
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.compiler.tflite.variables import CALL_ONCE

__all__ = ["CONTROL_FLOW", "INLINED", "MAX_ROUNDS", "with_inlined_calls"]

IF, WHILE = "IF", "WHILE"
CONTROL_FLOW = (IF, WHILE)
MAX_ROUNDS = 1024
MAX_INLINED = 4096
"""Operators of a model in which subgraphs stand for their calls."""
INLINED = (
    "IF and WHILE, whose conditions follow from constants and shapes, are replaced by the "
    f"operators of their subgraphs, up to {MAX_ROUNDS:,} rounds and {MAX_INLINED:,} operators."
)
"""Text of `docs/supported.md`."""


class _NotConstantError(Exception):
    """A call cannot be replaced."""


def with_inlined_calls(graph: Graph) -> Graph:
    """Return a model in which no IF and WHILE is left whose conditions are constant.

    Parameters
    ----------
    graph : Graph
        From `kiwicha.compiler.tflite.reader.read`.
    """
    if not any(operator.name in CONTROL_FLOW for operator in graph.operators):
        return graph
    return _Inliner(graph).graph()


class _Inliner:
    """The model that comes into being, operator by operator."""

    def __init__(self, model: Graph) -> None:
        self._graphs = (model, *model.others)
        self._tensors = list(model.tensors)
        self._operators: list[Operator] = []
        self._constants: dict[tuple[int, int], int] = {}

    def graph(self) -> Graph:
        """Return it."""
        model = self._graphs[0]
        scope = {tensor.index: tensor.index for tensor in model.tensors}
        for operator in model.operators:
            self._add(operator, scope, (0,))
        outputs = tuple(scope[index] for index in model.outputs)
        for index, output in zip(outputs, model.outputs, strict=True):
            if index >= len(model.tensors):
                # Outputs are called as in the file.
                name = model.tensors[output].name
                self._tensors[index] = dataclasses.replace(self._tensors[index], name=name)
        found = dataclasses.replace(
            model, tensors=tuple(self._tensors), operators=tuple(self._operators), outputs=outputs
        )
        is_left = any(operator.name in CONTROL_FLOW for operator in found.operators)
        return found if is_left else _with_called_once(found)

    def _add(self, operator: Operator, scope: dict[int, int], path: tuple[int, ...]) -> None:
        """Add an operator whose tensors are called as a scope says, or what it calls."""
        inputs = tuple(
            i if i == NO_TENSOR else self._tensor(i, scope, path) for i in operator.inputs
        )
        if operator.name in CONTROL_FLOW:
            before = len(self._tensors), len(self._operators)
            try:
                results = self._call(operator, inputs, path)
            except _NotConstantError:
                if len(path) > 1:
                    raise
                del self._tensors[before[0] :]
                del self._operators[before[1] :]
                self._constants.clear()
            else:
                scope.update(zip(operator.outputs, results, strict=True))
                return
        outputs = tuple(self._tensor(index, scope, path) for index in operator.outputs)
        index = len(self._operators)
        if index >= MAX_INLINED and len(path) > 1:
            raise _NotConstantError
        new = dataclasses.replace(operator, index=index, inputs=inputs, outputs=outputs)
        self._operators.append(new)
        done = with_folded(self._so_far(), new)
        if done is None:
            return
        self._tensors[outputs[0]] = done
        if len(path) > 1:
            # What only subgraphs compute from constants is no operator of the model.
            self._operators.pop()

    def _so_far(self) -> Graph:
        model = self._graphs[0]
        return dataclasses.replace(
            model, tensors=tuple(self._tensors), operators=tuple(self._operators)
        )

    def _tensor(self, index: int, scope: dict[int, int], path: tuple[int, ...]) -> int:
        """Return what a tensor of the subgraph that is called last is here."""
        if index in scope:
            return scope[index]
        number = path[-1]
        tensor = self._graphs[number].tensors[index]
        known = self._constants.get((number, index))
        if known is None:
            known = len(self._tensors)
            self._tensors.append(dataclasses.replace(tensor, index=known))
            if tensor.is_constant:
                self._constants[number, index] = known
        scope[index] = known
        return known

    def _call(
        self, operator: Operator, inputs: Sequence[int], path: tuple[int, ...]
    ) -> Sequence[int]:
        """Add what an operator calls, and return what it gives."""
        first, second = operator.options.subgraphs
        if operator.name == IF:
            if not inputs:
                raise _NotConstantError
            number = first if self._truth(inputs[0]) else second
            results = self._subgraph(number, inputs[1:], path)
        else:
            results = inputs
            for _ in range(MAX_ROUNDS):
                (condition,) = self._subgraph(first, results, path, count=1)
                if not self._truth(condition):
                    break
                results = self._subgraph(second, results, path, count=len(inputs))
            else:
                raise _NotConstantError
        tensors = self._graphs[path[-1]].tensors
        outputs = [tensors[index] for index in operator.outputs]
        self._require_alike(results, outputs)
        return results

    def _subgraph(
        self,
        number: int,
        arguments: Sequence[int],
        path: tuple[int, ...],
        count: int | None = None,
    ) -> Sequence[int]:
        """Add the operators of a subgraph, and return its outputs, of which there are so many."""
        if not 0 < number < len(self._graphs) or number in path:
            raise _NotConstantError
        graph = self._graphs[number]
        self._require_alike(arguments, [graph.tensors[index] for index in graph.inputs])
        scope = dict(zip(graph.inputs, arguments, strict=True))
        for operator in graph.operators:
            self._add(operator, scope, (*path, number))
        if count not in {None, len(graph.outputs)}:
            raise _NotConstantError
        return [self._tensor(index, scope, (*path, number)) for index in graph.outputs]

    def _truth(self, index: int) -> bool:
        tensor = self._tensors[index]
        if tensor.data is None or tensor.type is not TensorType.BOOL or tensor.elements != 1:
            raise _NotConstantError
        return bool(tensor.data[0])

    def _require_alike(self, indices: Sequence[int], others: Sequence[Tensor]) -> None:
        """Require that tensors can stand for others, element by element."""
        if len(indices) != len(others):
            raise _NotConstantError
        for index, other in zip(indices, others, strict=True):
            tensor = self._tensors[index]
            if (tensor.type, tensor.shape) != (other.type, other.shape):
                raise _NotConstantError
            if not _have_one_scale(tensor, other):
                raise _NotConstantError


def _have_one_scale(first: Tensor, second: Tensor) -> bool:
    a, b = first.quantization, second.quantization
    if a is None or b is None:
        return a is b
    return np.array_equal(a.scales, b.scales) and np.array_equal(a.zero_points, b.zero_points)


def _with_called_once(graph: Graph) -> Graph:
    """Return a model without the subgraphs that nothing executes any more."""
    numbers = {
        number: place
        for place, number in enumerate(
            sorted({
                number
                for item in graph.operators
                if item.name == CALL_ONCE
                for number in item.options.subgraphs
                if 0 < number <= len(graph.others)
            }),
            1,
        )
    }
    operators = tuple(
        dataclasses.replace(
            item,
            options=dataclasses.replace(
                item.options,
                subgraphs=tuple(numbers.get(number, number) for number in item.options.subgraphs),
            ),
        )
        if item.name == CALL_ONCE
        else item
        for item in graph.operators
    )
    others = tuple(graph.others[number - 1] for number in numbers)
    return dataclasses.replace(graph, operators=operators, others=others)
