"""Transpositions that cancel: copies of whole tensors in another order, as few as can be.

Two of them in a row are one, or none, also if the second reads a part of what the first one writes.
Layers that work byte by byte, such as ADD or a table, can have their tensors in any order, if it is
the same for all of them; between transpositions they get the order that leaves the least to copy.
"""

from collections.abc import Mapping

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.orders import Order
from kiwicha.compiler.optimize.reordering import turned
from kiwicha.compiler.optimize.transposed_parts import with_parts_transposed
from kiwicha.compiler.optimize.transposed_tensors import Uses, copied, emptied, renamed

__all__ = ["cancel_transpositions"]


def cancel_transpositions(network: Network) -> Network:
    """Return the network with fewer transpositions; the same one if none can go.

    Parameters
    ----------
    network : Network
        Functions of single bytes are one table each.
    """
    while True:
        uses = Uses(network)
        changed = _joined(uses) or with_parts_transposed(uses) or _turned(uses)
        if changed is None:
            network.verify()
            return network
        network = _without_unread(changed)


def _joined(uses: Uses) -> Network | None:
    """Return the network with two transpositions in a row as one; None if there are no such."""
    for item in uses.transpositions.values():
        before = uses.maker(item.source)
        source, order = item.source, item.order
        if before is not None:
            both = before.order.then(item.order)
            goes = uses.is_only_for(item.source, {item.position})
            most = item.order.cost + (before.order.cost if goes else 0)
            if both is not None and both.cost <= most:
                source, order = before.source, both
        if source == item.source and not order.is_same:
            continue
        network, layer = uses.network, uses.network.layers[item.position]
        if order.is_same:
            return renamed(network, {item.position: emptied(layer)}, {item.output: source})
        replaced = copied(layer, source, item.output, order)
        if replaced is not None:
            return renamed(network, {item.position: replaced}, {})
    return None


def _turned(uses: Uses) -> Network | None:
    """Return the network with layers in an order that leaves less to copy; None if there is none.

    If it leaves as much, transpositions go behind these layers, where others may meet them.
    """
    seen: set[int] = set()
    for position in uses.ordered:
        if position in seen:
            continue
        members = _neighbours(uses, position)
        seen |= members
        for order in _orders(uses, members):
            changed = turned(uses, members, order)
            if changed is not None:
                return changed
    return None


def _neighbours(uses: Uses, position: int) -> set[int]:
    """Return the layers whose tensors must have the same order as those of one layer."""
    members, left = {position}, [position]
    while left:
        layer = uses.network.layers[left[-1]]
        names = ("output", *uses.ordered[left.pop()])
        for tensor in (layer.tensors[name] for name in names):
            around = [*uses.readers[tensor], uses.writers.get(tensor, -1)]
            for other in around:
                if other in uses.ordered and other not in members and _reads(uses, other, tensor):
                    members.add(other)
                    left.append(other)
    return members


def _reads(uses: Uses, position: int, tensor: int) -> bool:
    """Whether a layer has a tensor that can be in any order, with all others of its own."""
    tensors = uses.network.layers[position].tensors
    names = ("output", *uses.ordered[position])
    return tensor in {tensors[name] for name in names}


def _orders(uses: Uses, members: set[int]) -> list[Order]:
    """Return orders that make a transposition before or behind some layers needless."""
    found: dict[Order, None] = {}
    for position in sorted(members):
        layer = uses.network.layers[position]
        for name in uses.ordered[position]:
            before = uses.maker(layer.tensors[name])
            if before is not None:
                found[before.order.inverse] = None
        for reader in uses.readers[layer.tensors["output"]]:
            if reader in uses.transpositions:
                found[uses.transpositions[reader].order] = None
    return list(found)


def _without_unread(network: Network) -> Network:
    """Return the network without transpositions that nothing reads."""
    uses = Uses(network)
    unread: Mapping[int, Layer] = {
        item.position: emptied(network.layers[item.position])
        for item in uses.transpositions.values()
        if uses.is_only_for(item.output, set())
    }
    return _without_unread(renamed(network, unread, {})) if unread else network
