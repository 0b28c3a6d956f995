"""Tensors that share memory: those without memory of their own lie where another one lies."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from kiwicha.compiler.lower.byte_copies import ByteCopy
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.rings import rings
from kiwicha.compiler.memory.placement import Buffer, lower_bound
from kiwicha.compiler.tflite.graph import NO_TENSOR, Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.contract.cfu import ALIGNMENT_BYTES

__all__ = ["MemorySharing"]


class MemorySharing:
    """Tensors that share memory, found while operators are lowered in order of execution.

    A copy of a whole tensor is another name for it. A copy of a whole tensor into a part of
    another, or of a part of one into a whole tensor, needs no copy if one lies inside the other,
    unless the memory that is needed at a time would grow: both live as long as either of them.

    States are written last, where they lie. Until then nothing may have a part in their memory that
    is still to be read, but for what a ring buffer becomes: bytes of the tensor in which it lies,
    from its own first byte on, or behind it.

    Parameters
    ----------
    graph : Graph
        The model.
    order : sequence of Operator
        Its operators as they are executed.
    least_ring_bytes, least_part_bytes : int
        Smaller ring buffers, and other tensors, are copied and lie in no other tensor.
    """

    def __init__(
        self,
        graph: Graph,
        order: Sequence[Operator],
        least_ring_bytes: int = 0,
        least_part_bytes: int = 0,
    ) -> None:
        self._graph = graph
        self._least_part_bytes = least_part_bytes
        self.aliases: dict[int, int] = {}
        """Tensors with the same bytes as another one, which may be such a tensor, too."""
        self.parts: dict[int, tuple[int, int]] = {}
        """Tensors inside another one, and their first byte there."""
        self.temporaries: list[Tensor] = []
        """Working memory of operators, with indices behind those of the model's tensors."""
        self._lifetimes = _lifetimes(graph, order)
        found = rings(graph)
        small = {b for b in found if graph.tensors[b].stored_bytes < least_ring_bytes}
        self._rings = {before: ring for before, ring in found.items() if before not in small}
        self._apart = small | {found[before].whole for before in small}
        self._moved = [state for state in graph.states if not state.is_own]
        self._afters = {state.after for state in self._moved}

    def share(self, copies: Mapping[int, tuple[int, int, ByteCopy]]) -> set[int]:
        """Return which copies of an operator are not needed, by their numbers.

        Parameters
        ----------
        copies : mapping of int to (int, int, ByteCopy)
            By number: a tensor that is computed before, or a constant; a tensor that is made now;
            and which bytes of the first go where in the second.
        """
        shared = set()
        wanted: dict[int, tuple[int, int]] = {}
        numbers: dict[int, int] = {}
        for number, (source, target, copy) in copies.items():
            if not copy.is_one or NO_TENSOR in {source, target}:
                continue
            if target in self._afters:
                shared |= {number} if self._stays(target) else set()
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

    def temporary(self, operator: Operator, elements: int, kind: TensorType | None = None) -> int:
        """Return a new tensor for an operator's own use, by default of its output's type."""
        index = len(self._graph.tensors) + len(self.temporaries)
        name = f"working memory of operator {operator.index}"
        output = self._graph.output(operator)
        self.temporaries.append(
            dataclasses.replace(
                output,
                index=index,
                name=name,
                type=kind or output.type,
                shape=(elements,),
                shape_signature=(),
            )
        )
        return index

    def resolved(self, layers: Iterable[Layer]) -> Network:
        """Return the network of these layers, in which every tensor that is named has memory.

        Parameters
        ----------
        layers : iterable of Layer
            One per operator, in order of execution.
        """
        tensors = (*self._graph.tensors, *self.temporaries)
        graph = dataclasses.replace(self._graph, tensors=tensors)
        network = Network(
            graph,
            (),
            tuple(self._storage(tensor) for tensor in graph.outputs),
            {tensor: self._storage(tensor) for tensor in self.aliases},
            {tensor: self._outermost(tensor, self.parts) for tensor in self.parts}
            | {state.after: self._outermost(state.before, self.parts) for state in self._moved},
        )
        # That a state is written where it lies is nothing to those who read it before.
        inside = {part for part in network.parts if part not in self._afters}
        shared = {*network.parts, *(network.parts[part][0] for part in inside)}
        resolved = []
        for layer in layers:
            outputs = graph.operators[layer.operator].outputs
            is_shared = any(self._storage(tensor) in shared for tensor in outputs)
            resolved.append(dataclasses.replace(self._resolved(layer), is_shared=is_shared))
        return dataclasses.replace(network, layers=tuple(resolved))

    def _resolved(self, layer: Layer) -> Layer:
        return dataclasses.replace(
            layer,
            tensors={name: self._storage(tensor) for name, tensor in layer.tensors.items()},
            more=tuple(self._resolved(call) for call in layer.more),
        )

    def _outermost(self, tensor: int, parts: Mapping[int, tuple[int, int]]) -> tuple[int, int]:
        """Return the tensor that holds a part and lies in no other one, and the first byte."""
        first = 0
        while tensor in parts:
            whole, offset = parts[tensor]
            tensor, first = self._storage(whole), first + offset
        return tensor, first

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
        if not self._keeps_states(self.parts):
            del self.aliases[target]
            return False
        return True

    def _fits(self, inner: int, outer: int, first: int) -> bool:
        """Whether one tensor could lie in another, from this byte on."""
        stored = [self._graph.tensors[self._storage(tensor)] for tensor in (inner, outer)]
        is_free = stored[0].index not in self.parts and first % ALIGNMENT_BYTES == 0
        is_free = is_free and not {inner, outer} & self._apart
        is_free = is_free and stored[0].stored_bytes >= self._least_part_bytes
        return is_free and not any(tensor.is_constant for tensor in stored)

    def _put(self, wanted: Mapping[int, tuple[int, int]]) -> list[int]:
        """Put tensors into others, all or as many as need no more memory; return which."""
        choices = [dict(wanted), *({inner: place} for inner, place in wanted.items())]
        for choice in choices:
            parts = {**self.parts, **choice}
            if parts == self.parts or not self._keeps_states(parts):
                continue
            # A ring buffer that lies elsewhere would be copied whole, every time.
            is_ring = bool(choice.keys() & self._rings.keys())
            if is_ring or self._peak(parts) <= self._peak(self.parts):
                self.parts = parts
        return [inner for inner in wanted if inner in self.parts]

    def _stays(self, after: int) -> bool:
        """Whether what becomes a state lies where the state does."""
        (before,) = (state.before for state in self._graph.states if state.after == after)
        if before not in self._rings:
            return False
        ring = self._rings[before]
        root, first = self._outermost(self._storage(ring.whole), self.parts)
        return (root, first + ring.first) == self._outermost(before, self.parts)

    def _keeps_states(self, parts: Mapping[int, tuple[int, int]]) -> bool:
        """Whether nothing that is read at the end lies where a state is written before that."""
        if not self._graph.states:
            return True
        places = {
            state.before: self._outermost(self._storage(state.before), parts)
            for state in self._graph.states
        }
        read = [(tensor, NO_TENSOR) for tensor in self._graph.outputs]
        for state in self._moved:
            writer = self._graph.operators[state.writer]
            read += [(t, state.before) for t in writer.inputs if t != NO_TENSOR]
        for tensor, reader in read:
            root, first = self._outermost(self._storage(tensor), parts)
            for before, (other, start) in places.items():
                ring = self._rings.get(before)
                is_own = reader == before and ring is not None and ring.whole == tensor
                is_behind = is_own and ring is not None and start <= first + ring.first
                if root == other and not is_behind:
                    return False
        return True

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
    lifetimes |= {state.before: (-1, len(order)) for state in graph.states}
    for number, operator in enumerate(order):
        for tensor in (*operator.inputs, *operator.outputs):
            if tensor != NO_TENSOR:
                first, last = lifetimes.get(tensor, (number, number))
                lifetimes[tensor] = (first, max(last, number))
    for tensor in graph.outputs:
        lifetimes[tensor] = (lifetimes.get(tensor, (0, 0))[0], len(order))
    return lifetimes
