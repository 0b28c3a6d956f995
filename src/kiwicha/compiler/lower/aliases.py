"""Which tensors need no memory of their own: they lie where another tensor lies."""

import dataclasses
from collections.abc import Mapping, Sequence

from kiwicha.compiler.lower.views import Runs
from kiwicha.compiler.memory.placement import Buffer, lower_bound
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph, Operator, Tensor
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["Places"]


class Places:
    """Tensors that share memory, found while operators are lowered in order of execution.

    A copy of a whole tensor is another name for it. A copy of a whole tensor into a part of
    another, or of a part of one into a whole tensor, needs no copy if one lies inside the other,
    unless the memory that is needed at a time would grow: both live as long as either of them.

    Parameters
    ----------
    graph : Graph
        The model.
    order : sequence of Operator
        Its operators as they are executed.
    """

    def __init__(self, graph: Graph, order: Sequence[Operator]) -> None:
        self._graph = graph
        self.aliases: dict[int, int] = {}
        """Tensors with the same bytes as another one; see `lower.network.Network`."""
        self.parts: dict[int, tuple[int, int]] = {}
        """Tensors inside another one."""
        self.temporaries: list[Tensor] = []
        """Working memory of operators, with indices behind those of the model's tensors."""
        self._lifetimes = _lifetimes(graph, order)

    def share(self, copies: Mapping[int, tuple[int, int, Runs]]) -> set[int]:
        """Return which copies of an operator are not needed, by their numbers.

        Parameters
        ----------
        copies : mapping of int to (int, int, Runs)
            By number: a tensor that is computed before, or a constant; a tensor that is made now;
            and which bytes of the first go where in the second.
        """
        shared = set()
        wanted: dict[int, tuple[int, int]] = {}
        numbers: dict[int, int] = {}
        for number, (source, target, copy) in copies.items():
            if not copy.is_one or NO_TENSOR in {source, target}:
                continue
            is_all = copy.source == (0, self._graph.tensors[source].stored_bytes)
            is_whole = copy.target == (0, self._graph.tensors[target].stored_bytes)
            inner, outer = (target, source) if is_whole else (source, target)
            first = copy.source[0] if is_whole else copy.target[0]
            inside = self._storage(inner)
            if is_all and is_whole:
                shared |= {number} if self._alias(source, target) else set()
            elif (is_all or is_whole) and inside not in wanted and self._fits(inner, outer, first):
                wanted[inside] = (self._storage(outer), first)
                numbers[inside] = number
        for inner in self._put(wanted):
            shared.add(numbers[inner])
        return shared

    def temporary(self, operator: Operator, elements: int) -> int:
        """Return a new tensor, of the type of an operator's output, for its own use."""
        index = len(self._graph.tensors) + len(self.temporaries)
        name = f"working memory of operator {operator.index}"
        output = self._graph.output(operator)
        self.temporaries.append(
            dataclasses.replace(
                output, index=index, name=name, shape=(elements,), shape_signature=()
            )
        )
        return index

    def _storage(self, tensor: int) -> int:
        while tensor in self.aliases:
            tensor = self.aliases[tensor]
        return tensor

    def _alias(self, source: int, target: int) -> bool:
        # Outputs of the model lie in the arena.
        is_constant = self._graph.tensors[self._storage(source)].is_constant
        if is_constant and target in self._graph.outputs:
            return False
        self.aliases[target] = source
        return True

    def _fits(self, inner: int, outer: int, first: int) -> bool:
        """Whether one tensor could lie in another, from this byte on."""
        stored = [self._graph.tensors[self._storage(tensor)] for tensor in (inner, outer)]
        is_free = stored[0].index not in self.parts and first % ALIGNMENT_BYTES == 0
        return is_free and not any(tensor.is_constant for tensor in stored)

    def _put(self, wanted: Mapping[int, tuple[int, int]]) -> list[int]:
        """Put tensors into others, all or as many as need no more memory; return which."""
        choices = [dict(wanted), *({inner: place} for inner, place in wanted.items())]
        for choice in choices:
            parts = {**self.parts, **choice}
            if parts != self.parts and self._peak(parts) <= self._peak(self.parts):
                self.parts = parts
        return [inner for inner in wanted if inner in self.parts]

    def _peak(self, parts: Mapping[int, tuple[int, int]]) -> int:
        """Return the bytes that one operator needs at least, with these tensors in others."""
        spans: dict[int, tuple[int, int]] = {}
        for tensor, (first, last) in self._lifetimes.items():
            root = self._storage(tensor)
            while root in parts:
                root = self._storage(parts[root][0])
            low, high = spans.get(root, (first, last))
            spans[root] = (min(low, first), max(high, last))
        tensors = self._graph.tensors
        return lower_bound(
            Buffer(tensors[root].name, tensors[root].stored_bytes, low, high)
            for root, (low, high) in spans.items()
            if not tensors[root].is_constant
        )


def _lifetimes(graph: Graph, order: Sequence[Operator]) -> dict[int, tuple[int, int]]:
    """Return the first and last operator that needs each tensor."""
    lifetimes: dict[int, tuple[int, int]] = dict.fromkeys(graph.inputs, (-1, -1))
    for number, operator in enumerate(order):
        for tensor in (*operator.inputs, *operator.outputs):
            if tensor != NO_TENSOR:
                lifetimes[tensor] = (lifetimes.get(tensor, (number, number))[0], number)
    for tensor in graph.outputs:
        lifetimes[tensor] = (lifetimes.get(tensor, (0, 0))[0], len(order))
    return lifetimes
