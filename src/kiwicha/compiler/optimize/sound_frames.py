"""Frames of sound become one layer, where a unit for them computes it.

From the weights of samples to the roots of channels nothing then is written to memory. The
operators between are those of a frontend, one behind the other.
"""

import dataclasses
from collections import Counter

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.contract.signal import LEAST_HALF_BITS, MOST_HALF_BITS
from kiwicha.kernels.unit_channels import UnitChannels

__all__ = ["merge_frames"]

_WORD_BYTES = 4
_READS = {"tapered": 2, "scaled": 1, "bits": 2, "spectrum": 1, "energies": 1, "sums": 1}
"""How often each tensor between the operators is read by them."""


def merge_frames(network: Network) -> Network:
    """Return the network with a UNIT_CHANNELS for each frame that the unit can compute.

    Parameters
    ----------
    network : Network
        From `kiwicha.compiler.lower.lower.lower`.
    """
    makers = {call.tensors["output"]: layer for layer in network.layers for call in layer.calls}
    reads = Counter(
        tensor
        for layer in network.layers
        for call in layer.calls
        for name, tensor in call.tensors.items()
        if name != "output"
    )
    kept = {*network.outputs, *network.shared}
    layers = list(network.layers)
    for position, layer in enumerate(layers):
        if layer.kernel is not Kernel.SIGNAL_SQUARE_ROOT:
            continue
        chain = _chain(makers, layer)
        if chain is None or not _can_merge(network, chain):
            continue
        between = _between(chain)
        if any(tensor in kept or reads[tensor] != _READS[name] for name, tensor in between.items()):
            continue
        for place, other in enumerate(layers):
            if other in chain:
                layers[place] = Layer(other.operator, other.name)
        layers[position] = _merged(chain)
    changed = dataclasses.replace(network, layers=tuple(layers))
    changed.verify()
    return changed


_KERNELS = (
    *(Kernel.SIGNAL_SQUARE_ROOT, Kernel.SIGNAL_FILTER_BANK, Kernel.SIGNAL_ENERGY),
    *(Kernel.SIGNAL_RFFT, Kernel.SIGNAL_SCALE_BITS, Kernel.SIGNAL_TAPER),
)
"""Of a frame's layers, from the last one to the first."""


def _chain(makers: dict[int, Layer], root: Layer) -> list[Layer] | None:
    """Return the layers of a frame, the last one first; None if they are not those."""
    chain = [root]
    for kernel in _KERNELS[1:]:
        layer = makers.get(chain[-1].tensors["input"])
        if layer is None or layer.kernel is not kernel or layer.ranges:
            return None
        chain.append(layer)
    return chain


def _between(chain: list[Layer]) -> dict[str, int]:
    """Return the tensors between the layers of a frame."""
    root, bank, energy, transform, scale, _ = chain
    return {
        "tapered": scale.tensors["input"],
        "scaled": transform.tensors["input"],
        "bits": root.tensors["bits"],
        "spectrum": energy.tensors["input"],
        "energies": bank.tensors["input"],
        "sums": root.tensors["input"],
    }


def _can_merge(network: Network, chain: list[Layer]) -> bool:
    root, _, energy, transform, scale, taper = chain
    half = transform.params.half
    _, start = network.parts.get(taper.tensors["input"], (0, 0))
    return (
        taper.params.rows == 1
        and transform.params.rows == 1
        and 1 << LEAST_HALF_BITS <= half <= 1 << MOST_HALF_BITS
        and (energy.params.first, energy.params.end) == (0, half + 1)
        and root.tensors["bits"] == scale.tensors["output"]
        and start % _WORD_BYTES == 0
    )


def _merged(chain: list[Layer]) -> Layer:
    root, bank, _, transform, _, taper = chain
    params = UnitChannels(
        *(Ref(), Ref(), Ref(), Ref(), Ref(), Ref()),
        samples=taper.params.size,
        shift=taper.params.shift,
        half_bits=transform.params.half.bit_length() - 1,
        weight_count=bank.params.weight_count,
        channels=bank.params.channels,
    )
    return dataclasses.replace(
        root,
        kernel=Kernel.UNIT_CHANNELS,
        params=params,
        tensors={
            "input": taper.tensors["input"],
            "taper": taper.tensors["weights"],
            "weights": bank.tensors["weights"],
            "unweights": bank.tensors["unweights"],
            "output": root.tensors["output"],
        },
        constants={"bands": bank.constants["bands"]},
    )
