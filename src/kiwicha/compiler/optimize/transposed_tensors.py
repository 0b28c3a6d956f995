"""Which layers of a network only copy a tensor in another order, and who writes and reads what."""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Set
from dataclasses import dataclass

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS, lookup_table
from kiwicha.compiler.optimize.elementwise_orders import INPUT_NUMBERS, reads_in_order
from kiwicha.compiler.optimize.orders import Order
from kiwicha.contract.program import Kernel

__all__ = ["Transposition", "Uses", "copied", "emptied", "renamed"]


@dataclass(frozen=True)
class Transposition:
    """A layer that copies a whole tensor in another order.

    Parameters
    ----------
    position : int
        Of the layer.
    source, output : int
        Tensors.
    order : Order
        What it does.
    """

    position: int
    source: int
    output: int
    order: Order


class Uses:
    """Who writes and reads the tensors of a network.

    Parameters
    ----------
    network : Network
        The network.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.readers: defaultdict[int, list[int]] = defaultdict(list)
        """Positions of layers, by tensor."""
        self.writers: dict[int, int] = {}
        for position, layer in enumerate(network.layers):
            for call in layer.calls:
                for name, tensor in call.tensors.items():
                    if name == "output":
                        self.writers[tensor] = position
                    elif position not in self.readers[tensor]:
                        self.readers[tensor].append(position)
        found = map(self._transposition, range(len(network.layers)))
        self.transpositions = {item.position: item for item in found if item is not None}
        self.ordered = {
            position: names
            for position, layer in enumerate(network.layers)
            if (names := self._ordered_inputs(layer))
        }
        """Names of inputs that layers read in the output's order, where this can be any order."""

    def maker(self, tensor: int) -> Transposition | None:
        """Return the transposition that writes a tensor."""
        return self.transpositions.get(self.writers.get(tensor, -1))

    def is_only_for(self, tensor: int, positions: Set[int]) -> bool:
        """Whether nothing but some layers needs a tensor."""
        return not {*self.readers[tensor]} - positions and tensor not in self.network.outputs

    def _is_whole(self, layer: Layer) -> bool:
        """Whether a layer is one call on whole tensors with memory of their own."""
        network = self.network
        if len(layer.calls) != 1 or network.shared.intersection(layer.tensors.values()):
            return False
        return all(
            span == (0, network.tensors[layer.tensors[name]].stored_bytes)
            for name, span in layer.ranges.items()
            if name in layer.tensors
        )

    def _transposition(self, position: int) -> Transposition | None:
        layer = self.network.layers[position]
        order = self.whole_order(layer) if self._is_whole(layer) else None
        if order is None:
            return None
        return Transposition(position, layer.tensors["input"], layer.tensors["output"], order)

    def whole_order(self, layer: Layer) -> Order | None:
        """Return the order in which a layer copies a whole tensor to another one, if it does.

        Other tensors may lie inside these.
        """
        if layer.kernel is not Kernel.COPY or len(layer.calls) != 1 or "input" not in layer.tensors:
            return None
        tensors = [self.network.tensors[layer.tensors[name]] for name in ("input", "output")]
        whole = [(0, tensor.stored_bytes) for tensor in tensors]
        if tensors[0].is_constant or whole != [layer.ranges["input"], layer.ranges["output"]]:
            return None
        return Order.of_copy(layer.params)

    def _ordered_inputs(self, layer: Layer) -> tuple[str, ...]:
        if not layer.calls or not self._is_whole(layer):
            return ()
        tensors = self.network.tensors
        size = tensors[layer.tensors["output"]].stored_bytes
        computed = [
            name
            for name, tensor in layer.tensors.items()
            if name != "output" and not tensors[tensor].is_constant
        ]
        if lookup_table(layer) is not None:
            return tuple(computed)
        if layer.kernel not in PAIR_KERNELS:
            return ()
        return tuple(
            name
            for name in computed
            if tensors[layer.tensors[name]].stored_bytes == size
            and reads_in_order(layer.params, INPUT_NUMBERS[name])
        )


def copied(layer: Layer, source: int, output: int, order: Order, start: int = 0) -> Layer | None:
    """Return a layer that copies a tensor in an order; None if that takes too many loops.

    Parameters
    ----------
    layer : Layer
        In whose place it is.
    source, output : int
        Tensors.
    order : Order
        Not the same.
    start : int
        First byte of the source.
    """
    copy = order.copy()
    if copy is None:
        return None
    return Layer(
        layer.operator,
        layer.name,
        kernel=Kernel.COPY,
        params=copy.params,
        tensors={"input": source, "output": output},
        ranges={"input": (start + copy.source[0], copy.source[1]), "output": copy.target},
    )


def emptied(layer: Layer) -> Layer:
    """Return a layer of which nothing is left to do."""
    return Layer(layer.operator, layer.name)


def renamed(network: Network, layers: Mapping[int, Layer], tensors: Mapping[int, int]) -> Network:
    """Return the network with other layers, and with other tensors in place of some.

    Parameters
    ----------
    network : Network
        As it was.
    layers : mapping of int to Layer
        By position.
    tensors : mapping of int to int
        Tensors that are no more, and those that have the same bytes.
    """

    def changed(layer: Layer) -> Layer:
        if not tensors.keys() & {t for call in layer.calls for t in call.tensors.values()}:
            return layer
        return dataclasses.replace(
            layer,
            tensors={name: tensors.get(t, t) for name, t in layer.tensors.items()},
            more=tuple(map(changed, layer.more)),
        )

    aliases = {alias: tensors.get(t, t) for alias, t in network.aliases.items()}
    return dataclasses.replace(
        network,
        layers=tuple(
            changed(layers.get(position, layer)) for position, layer in enumerate(network.layers)
        ),
        outputs=tuple(tensors.get(t, t) for t in network.outputs),
        aliases=aliases | dict(tensors),
    )
