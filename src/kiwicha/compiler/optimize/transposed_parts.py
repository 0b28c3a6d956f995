"""Transpositions of tensors that are only read in parts, as SPLIT leaves them.

Each part can come straight from what the transposition reads. Where all that reads a part
transposes it again, both are one copy, or the part as it lay.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.orders import Order
from kiwicha.compiler.optimize.transposed_tensors import Uses, copied, emptied

__all__ = ["with_parts_transposed"]


@dataclass(frozen=True)
class _Part:
    """A part of a tensor, and how its bytes lie in the tensor that is transposed.

    Parameters
    ----------
    tensor : int
        The part.
    order : Order
        From the source to the part; it reads some bytes of the source.
    start : int
        First byte of the source.
    joined : tuple of (int, Order)
        Positions of transpositions that read the part, with both orders as one; none if anything
        else reads it, too.
    """

    tensor: int
    order: Order
    start: int
    joined: tuple[tuple[int, Order], ...]

    @property
    def cost(self) -> float:
        """What it takes to copy it, or all that reads it."""
        orders = [both for _, both in self.joined] or [self.order]
        return sum(order.cost for order in orders)


def with_parts_transposed(uses: Uses) -> Network | None:
    """Return the network with a transposition for each part; None if that saves nothing.

    Parameters
    ----------
    uses : Uses
        Of the network.
    """
    network = uses.network
    for position, layer in enumerate(network.layers):
        order = uses.whole_order(layer)
        if order is None:
            continue
        whole = layer.tensors["output"]
        found = _parts(uses, whole, order)
        if not found:
            continue
        again = [position for part in found for position, _ in part.joined]
        orders = [order, *(uses.whole_order(network.layers[position]) for position in again)]
        before = sum(item.cost for item in orders if item is not None)
        after = sum(part.cost for part in found)
        changed = _changed(network, position, found) if after < before else None
        if changed is not None:
            return changed
    return None


def _parts(uses: Uses, whole: int, order: Order) -> list[_Part]:
    """Return the parts of a tensor in an order; none if it is needed in another way."""
    network = uses.network
    starts = {part: first for part, (outer, first) in network.parts.items() if outer == whole}
    is_named = whole in network.outputs or whole in network.aliases.values()
    if is_named or uses.readers[whole] or uses.writers.keys() & starts.keys():
        return []
    found = []
    for part, first in starts.items():
        size = network.tensors[part].stored_bytes
        (_, source, target), *inner = order.dimensions
        if first % target or size % target:
            return []
        own = Order.of([(size // target, source, target), *inner])
        joined = _joined(uses, part, own)
        found.append(_Part(part, own, first // target * source, joined))
    return found


def _joined(uses: Uses, part: int, order: Order) -> tuple[tuple[int, Order], ...]:
    """Return what reads a part, with both orders as one, if only transpositions do."""
    if part in uses.network.outputs:
        return ()
    found: list[tuple[int, Order]] = []
    for position in uses.readers[part]:
        behind = uses.whole_order(uses.network.layers[position])
        both = None if behind is None else order.then(behind)
        if both is None:
            return ()
        found.append((position, both))
    return tuple(found)


def _changed(network: Network, position: int, found: Sequence[_Part]) -> Network | None:
    """Return the network with each part from the source; None if a copy takes too many loops."""
    layers = dict(enumerate(network.layers))
    layer = layers[position]
    source = layer.tensors["input"]
    calls: list[Layer] = []
    for part in found:
        for reader, both in part.joined:
            output = layers[reader].tensors["output"]
            replaced = copied(layers[reader], source, output, both, part.start)
            if replaced is None:
                return None
            layers[reader] = replaced
        if not part.joined:
            call = copied(layer, source, part.tensor, part.order, part.start)
            if call is None:
                return None
            calls.append(call)
    layers[position] = (
        dataclasses.replace(calls[0], more=tuple(calls[1:])) if calls else emptied(layer)
    )
    own = {part.tensor for part in found}
    parts = {part: place for part, place in network.parts.items() if part not in own}
    changed = dataclasses.replace(network, parts=parts)
    return dataclasses.replace(
        changed,
        layers=tuple(_marked(changed, layers[number]) for number in range(len(layers))),
    )


def _marked(network: Network, layer: Layer) -> Layer:
    """Return a layer that knows whether one of its outputs lies inside another tensor."""
    outputs = network.graph.operators[layer.operator].outputs
    is_shared = any(network.aliases.get(t, t) in network.shared for t in outputs)
    return dataclasses.replace(layer, is_shared=is_shared)
