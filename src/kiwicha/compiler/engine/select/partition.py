"""Which layers the engine computes one after the other, without the CPU."""

from collections.abc import Mapping, Set

from kiwicha.compiler.engine.ir.layers import EngineLayer
from kiwicha.compiler.engine.ir.run import Run
from kiwicha.compiler.lower.network import Network

__all__ = ["partition"]


def partition(
    network: Network, layers: Mapping[int, EngineLayer], cuts: Set[int]
) -> tuple[list[Run], frozenset[int]]:
    """Return the regions of the engine, in order; all other layers are for the CPU.

    A region ends at a layer of the CPU, where one tensor becomes part of another, and where its
    list would have too many jobs or cycles.

    Parameters
    ----------
    network : Network
        The model.
    layers : mapping of int to EngineLayer
        What the engine can compute, by position.
    cuts : set of int
        Positions of layers with which a region begins in any case.

    Returns
    -------
    regions : list of Run
        In order.
    refused : frozenset of int
        Positions of layers that must not be in their region: pixels with padding between them would
        meet somebody who wants them dense.
    """
    groups: list[list[EngineLayer]] = [[]]
    merged = {position for layer in layers.values() for position in layer.merged}
    for position, layer in enumerate(network.layers):
        if position in cuts:
            groups.append([])
        if position in layers:
            groups[-1].append(layers[position])
        elif position not in merged and (layer.kernel is not None or layer.is_shared):
            groups.append([])
    regions = [_run(network, members) for members in groups if members]
    troubles = (layer.position for region in regions for layer in _padding_troubles(region))
    return regions, frozenset(troubles)


def _run(network: Network, members: list[EngineLayer]) -> Run:
    written = {layer.output for layer in members}
    read = {tensor for layer in members for tensor in layer.inputs}
    inside = {position for layer in members for position in layer.positions}
    wanted = {*network.outputs, *network.shared}
    for position, layer in enumerate(network.layers):
        for call in layer.calls if position not in inside else ():
            wanted |= {tensor for name, tensor in call.tensors.items() if name != "output"}
    return Run(tuple(members), frozenset(read - written), frozenset(written & wanted))


def _padding_troubles(run: Run) -> list[EngineLayer]:
    """Return layers that cannot stay in the run because of bytes between pixels."""
    troubles = []
    producers = run.producers
    for layer in run.layers:
        inputs = [tensor for tensor in layer.inputs if tensor not in layer.whole_inputs]
        pitches = {_pitch(run, producers, tensor, layer) for tensor in inputs}
        if len(pitches) > 1:
            troubles.append(layer)
        if not run.is_padded(layer):
            continue
        readers = [reader for reader in run.layers if layer.output in reader.inputs]
        if layer.output in run.stores or any(
            reader.window.channels != layer.output_channels for reader in readers
        ):
            troubles.append(layer)
    return troubles


def _pitch(run: Run, producers: Mapping[int, EngineLayer], tensor: int, reader: EngineLayer) -> int:
    producer = producers.get(tensor)
    if producer is not None and run.is_padded(producer):
        return run.output_pitch(producer)
    return reader.window.channels
