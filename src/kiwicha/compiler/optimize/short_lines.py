"""Chains of integer operators from int16 to int8 become one line.

Such are the last operators of a frontend: a product, a quotient, sums and limits, all of them with
constants, between two CASTs.
"""

import dataclasses
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.integers import IntegerOperation
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel
from kiwicha.kernels.short_line import ShortLine
from kiwicha.numerics.integers import OPERATIONS

__all__ = ["line_of", "merge_short_lines"]

Int64s = NDArray[np.int64]
_ALL = np.arange(-(2**15), 2**15, dtype=np.int64)
"""Every int16."""
_OPERATIONS = {
    *(IntegerOperation.ADD, IntegerOperation.SUB, IntegerOperation.MUL, IntegerOperation.DIV),
    *(IntegerOperation.FLOOR_DIV, IntegerOperation.MINIMUM, IntegerOperation.MAXIMUM),
}
_LEAST_LAYERS = 3
"""Of a chain: the two CASTs, and one between them."""
_MOST_SHIFT = 30


def merge_short_lines(network: Network) -> Network:
    """Return the network with a SHORT_LINE for each chain from int16 to int8.

    Parameters
    ----------
    network : Network
        From `kiwicha.compiler.lower.lower.lower`.
    """
    makers = {
        layer.tensors["output"]: position
        for position, layer in enumerate(network.layers)
        if layer.kernel in {Kernel.CAST, Kernel.INTEGERS} and not layer.more
    }
    reads = Counter(
        tensor
        for layer in network.layers
        for call in layer.calls
        for name, tensor in call.tensors.items()
        if name != "output"
    )
    kept = {*network.outputs, *network.shared}
    layers = list(network.layers)
    for position in range(len(layers)):
        if not _is_cast(layers[position], DType.INT32, DType.INT8):
            continue
        chain = [position]
        while not _is_cast(layers[chain[0]], DType.INT16, DType.INT32):
            source = _source(network, layers[chain[0]])
            if source is None or source not in makers or source in kept or reads[source] > 1:
                break
            chain.insert(0, makers[source])
        else:
            merged = _merged(network, [layers[place] for place in chain])
            if merged is not None and len(chain) >= _LEAST_LAYERS:
                for place in chain:
                    layers[place] = Layer(layers[place].operator, layers[place].name)
                layers[position] = merged
    if layers == list(network.layers):
        return network
    changed = dataclasses.replace(network, layers=tuple(layers))
    changed.verify()
    return changed


def _is_cast(layer: Layer, source: DType, target: DType) -> bool:
    return (
        layer.kernel is Kernel.CAST
        and not (layer.more or layer.ranges)
        and (layer.params.input_dtype, layer.params.output_dtype) == (source, target)
    )


def _source(network: Network, layer: Layer) -> int | None:
    """Return the tensor that a layer changes number by number, None if it does something else."""
    if layer.kernel is Kernel.CAST:
        return layer.tensors["input"]
    if (
        layer.kernel is not Kernel.INTEGERS
        or layer.ranges
        or layer.params.dtype != DType.INT32
        or layer.params.operation not in _OPERATIONS
        or not {"input_1", "input_2"} <= {*layer.tensors}
    ):
        return None
    source, other = (network.tensors[layer.tensors[name]] for name in ("input_1", "input_2"))
    output = network.tensors[layer.tensors["output"]]
    if not other.is_constant or other.elements != 1 or source.elements != output.elements:
        return None
    is_divided = layer.params.operation in {IntegerOperation.DIV, IntegerOperation.FLOOR_DIV}
    return None if is_divided and not _constant(network, layer) else source.index


def _constant(network: Network, layer: Layer) -> int:
    data = network.tensors[layer.tensors["input_2"]].data
    assert data is not None
    return int(data.view("<i4").reshape(-1)[0])


def _merged(network: Network, chain: list[Layer]) -> Layer | None:
    """Return the line of a chain, None if it is none."""
    values = _ALL
    for layer in chain[1:-1]:
        found = OPERATIONS[layer.params.operation](
            values, np.array(_constant(network, layer), np.int64)
        )
        values = found.astype(np.int32).astype(np.int64)
    line = line_of(values.astype(np.int8).astype(np.int64))
    if line is None:
        return None
    last = chain[-1]
    return dataclasses.replace(
        last,
        kernel=Kernel.SHORT_LINE,
        params=dataclasses.replace(line, count=last.params.count),
        tensors={"input": chain[0].tensors["input"], "output": last.tensors["output"]},
    )


def line_of(values: Int64s) -> ShortLine | None:
    """Return the line that gives a function of all int16, None if none does.

    Parameters
    ----------
    values : int64 [65536]
        Results of -32768 to 32767, each an int8.
    """
    least, most = int(values[0]), int(values[-1])
    if (np.diff(values) < 0).any():
        return None
    # Where each result above the least one begins. Beyond the first and the last of these places
    # results stay as they are.
    results = np.arange(least + 1, most + 1)
    if not len(results):
        return ShortLine(Ref(), Ref(), 0, 0, 0, 0, least, 0)
    starts = _ALL[np.searchsorted(values, results)]
    first, last = max(int(starts[0]) - 1, -(2**15)), int(starts[-1])
    # A result is reached at its start, and not yet just before it.
    reached = np.append(starts, first), np.append(results, least)
    missed = np.append(starts - 1, last), np.append(results, most + 1)
    steepness = _slopes(reached, missed)
    if steepness is None:
        return None
    for shift in range(_MOST_SHIFT + 1):
        factor = round(sum(steepness) / 2 * 2**shift)
        offset = int(((reached[1] << shift) - factor * reached[0]).max())
        below = int(((missed[1] << shift) - factor * missed[0]).min())
        if offset < below and _fits(factor, offset, first, last):
            return ShortLine(Ref(), Ref(), 0, first, last, factor, offset, shift)
    return None


def _slopes(
    reached: tuple[Int64s, Int64s], missed: tuple[Int64s, Int64s]
) -> tuple[float, float] | None:
    """Return the smallest and the largest slope of a line between points, None if there is none.

    Parameters
    ----------
    reached, missed : tuple of int64 [n] and int64 [n]
        Numbers, and what the line must reach there, or stay below.
    """
    across = missed[0][:, None] - reached[0]
    up = missed[1][:, None] - reached[1]
    if (up[across == 0] <= 0).any():
        return None
    ratios = up / np.where(across == 0, 1, across)
    low = max(float(ratios[across < 0].max(initial=0)), 0.0)
    high = float(ratios[across > 0].min(initial=2.0**15))
    return (low, high) if low < high else None


def _fits(factor: int, offset: int, first: int, last: int) -> bool:
    """Return whether 32 bits are enough."""
    return factor * max(abs(first), abs(last)) + abs(offset) < 2**31
