"""Layers that work byte by byte with the bytes of all their tensors in another order."""

import dataclasses
from collections import defaultdict
from collections.abc import Set

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS
from kiwicha.compiler.optimize.elementwise_orders import INPUT_NUMBERS, reordered
from kiwicha.compiler.optimize.orders import Order
from kiwicha.compiler.optimize.transposed_tensors import Uses, copied, emptied, renamed

__all__ = ["turned"]


def turned(uses: Uses, members: Set[int], order: Order) -> Network | None:
    """Return a network some of whose layers have their tensors in another order.

    None if that leaves more to copy. If it leaves as much, then only if all transpositions before
    these layers go.

    Parameters
    ----------
    uses : Uses
        The network.
    members : set of int
        Positions of the layers: all that share tensors whose order can be any.
    order : Order
        From the bytes of their tensors as they are to what they become.
    """
    try:
        return _Turning(uses, members, order).network()
    except _TooHardError:
        return None


class _TooHardError(Exception):
    """A copy takes too many loops, or there is no layer for it."""


@dataclasses.dataclass(frozen=True)
class _Insertion:
    """A copy of a whole tensor that is new."""

    place: int
    """Position of the layer before which it comes."""
    source: int
    output: int
    order: Order


class _Turning:
    """The change under way."""

    def __init__(self, uses: Uses, members: Set[int], order: Order) -> None:
        self._uses, self._members, self._order = uses, members, order
        self._layers = dict(enumerate(uses.network.layers))
        self._tensors = list(uses.network.tensors)
        self._names: dict[int, int] = {}
        """What tensors of these layers become."""
        self._renamed: dict[int, int] = {}
        """Tensors behind transpositions that go, and what has their bytes."""
        self._free: list[int] = []
        """Positions of transpositions that go."""
        self._insertions: list[_Insertion] = []
        self._saved = 0.0

    def network(self) -> Network | None:
        """Return the changed network, or None."""
        layers = [self._layers[position] for position in sorted(self._members)]
        written = [layer.tensors["output"] for layer in layers]
        entries = {
            layer.tensors[name]: position
            for position, layer in reversed(list(zip(sorted(self._members), layers, strict=True)))
            for name in self._uses.ordered[position]
            if layer.tensors[name] not in written
        }
        for tensor, reader in entries.items():
            self._enter(tensor, reader)
        is_later = not self._insertions
        for tensor in written:
            self._names[tensor] = self._new(tensor)
        for position in self._members:
            self._layers[position] = self._changed(position)
        for tensor in written:
            self._leave(tensor)
        if self._saved < 0 or (self._saved == 0 and not is_later):
            return None
        return self._finished()

    def _finished(self) -> Network:
        """Return the network, its new copies in place of transpositions that go."""
        before: defaultdict[int, list[Layer]] = defaultdict(list)
        for item in self._insertions:
            if not self._free:
                raise _TooHardError
            freed = self._layers.pop(self._free.pop())
            before[item.place].append(_copy(freed, item.source, item.output, item.order))
        for position in self._free:
            self._layers[position] = emptied(self._layers[position])
        ordered: list[Layer] = []
        for position in range(len(self._uses.network.layers) + 1):
            ordered += before[position]
            ordered += [self._layers[position]] if position in self._layers else []
        network = self._uses.network
        graph = dataclasses.replace(network.graph, tensors=tuple(self._tensors))
        found = dataclasses.replace(network, graph=graph, layers=tuple(ordered))
        return renamed(found, {}, self._renamed)

    def _enter(self, tensor: int, reader: int) -> None:
        """Give an input of these layers its other order."""
        before = self._uses.maker(tensor)
        source, order = tensor, self._order
        if before is not None:
            source, order = before.source, _chain(before.order, self._order)
            if self._uses.is_only_for(tensor, self._members):
                self._free.append(before.position)
                self._saved += before.order.cost
        if order.is_same:
            self._names[tensor] = source
            return
        self._names[tensor] = self._new(tensor)
        self._insertions.append(_Insertion(reader, source, self._names[tensor], order))
        self._saved -= order.cost

    def _leave(self, tensor: int) -> None:
        """Give an output of these layers its old order, for other layers that read it."""
        network, back = self._uses.network, self._order.inverse
        is_needed = tensor in network.outputs
        for position in self._uses.readers[tensor]:
            behind = self._uses.transpositions.get(position)
            if position in self._members:
                continue
            if behind is None:
                is_needed = True
                continue
            order = _chain(back, behind.order)
            self._saved += behind.order.cost - order.cost
            if order.is_same:
                self._free.append(position)
                self._renamed[behind.output] = self._names[tensor]
            else:
                layer = self._layers[position]
                self._layers[position] = _copy(layer, self._names[tensor], behind.output, order)
        if is_needed:
            place = self._uses.writers[tensor] + 1
            self._insertions.append(_Insertion(place, self._names[tensor], tensor, back))
            self._saved -= back.cost

    def _changed(self, position: int) -> Layer:
        """Return one of these layers with its tensors in the other order."""
        layer, names = self._layers[position], self._uses.ordered[position]
        changed = {"output", *names}
        tensors = {n: self._names[t] if n in changed else t for n, t in layer.tensors.items()}
        params = layer.params
        if layer.kernel in PAIR_KERNELS:
            numbers = {INPUT_NUMBERS[name] for name in names}
            shape = self._tensors[tensors["output"]].shape
            params = reordered(params, self._order, numbers, shape)
            if params is None:
                raise _TooHardError
        return dataclasses.replace(layer, tensors=tensors, params=params)

    def _new(self, tensor: int) -> int:
        """Return a tensor like another one in the other order."""
        old, index = self._tensors[tensor], len(self._tensors)
        self._tensors.append(
            dataclasses.replace(
                old,
                index=index,
                name=f"{old.name} in another order",
                shape=self._shape(),
                shape_signature=(),
            )
        )
        return index

    def _shape(self) -> tuple[int, ...]:
        """Return the shape of a tensor that has the other order in the network as it is."""
        network = self._uses.network
        for position in sorted(self._members):
            layer = network.layers[position]
            for name in self._uses.ordered[position]:
                before = self._uses.maker(layer.tensors[name])
                if before is not None and before.order.inverse == self._order:
                    return network.tensors[before.source].shape
            for reader in self._uses.readers[layer.tensors["output"]]:
                behind = self._uses.transpositions.get(reader)
                if behind is not None and behind.order == self._order:
                    return network.tensors[behind.output].shape
        raise AssertionError("an order comes from a transposition around these layers")


def _chain(first: Order, second: Order) -> Order:
    found = first.then(second)
    if found is None:
        raise _TooHardError
    return found


def _copy(layer: Layer, source: int, output: int, order: Order) -> Layer:
    found = copied(layer, source, output, order)
    if found is None:
        raise _TooHardError
    return found
