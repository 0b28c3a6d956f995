"""Regions: which operations the engine computes in one list, without the CPU."""

from collections.abc import Iterable, Mapping, Set

from kiwicha.compiler.engine.ir.element_operations import FloatConversion
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.refusals import Troubles
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.select.float_edges import without_conversions
from kiwicha.compiler.lower.network import Network

__all__ = ["padding_troubles", "partition"]


def partition(
    network: Network, operations: Mapping[int, Operation], cuts: Set[int]
) -> list[Region]:
    """Return the regions of the engine, in order; all other layers are for the CPU.

    A region ends at a layer of the CPU, where one tensor becomes part of another, or at a cut.

    Parameters
    ----------
    network : Network
        The model.
    operations : mapping of int to Operation
        What the engine computes, by position.
    cuts : set of int
        Layers at which a region must begin.
    """
    groups: list[list[Operation]] = [[]]
    merged = {position for operation in operations.values() for position in operation.merged}
    for position, layer in enumerate(network.layers):
        if position in cuts:
            groups.append([])
        if position in operations:
            if _has_other_edge(groups[-1], operations[position]):
                groups.append([])
            groups[-1].append(operations[position])
        elif position not in merged and (layer.kernel is not None or layer.is_shared):
            groups.append([])
    regions = [_region(network, members) for members in groups if members]
    for region in regions:
        region.verify()
    return regions


def _region(network: Network, members: list[Operation]) -> Region:
    inside = {position for operation in members for position in operation.positions}
    wanted = {*network.outputs, *network.shared}
    for position, layer in enumerate(network.layers):
        for call in layer.calls if position not in inside else ():
            wanted |= {tensor for name, tensor in call.tensors.items() if name != "output"}
    edges = tuple(item.edge for item in members if isinstance(item, FloatConversion))
    left = without_conversions(members, frozenset(wanted))
    written = {operation.output for operation in left}
    read = {tensor for operation in left for tensor in operation.inputs}
    return Region(left, frozenset(read - written), frozenset(written & wanted), edges)


def _has_other_edge(members: Iterable[Operation], operation: Operation) -> bool:
    """Whether a QUANTIZE reads what operations of a region write or convert in another way."""
    if not isinstance(operation, FloatConversion) or not operation.quantizes:
        return False
    return any(
        item.edge.tensor == operation.edge.tensor and item.edge.table != operation.edge.table
        for item in members
        if isinstance(item, FloatConversion)
    )


def padding_troubles(regions: Iterable[Region]) -> Troubles:
    """Return operations that cannot stay in their region because of bytes between pixels, and why.

    A job of windows writes pixels of whole words. Some readers need pixels without gaps: the CPU,
    an operation that reads pixels in a row, or one whose other input has none.
    """
    refusals = {}
    for region in regions:
        for operation in region.operations:
            why = _mixed_pitches(region, operation) or _gaps(region, operation)
            if why is not None:
                refusals[operation.position] = why
    return Troubles(refusals)


def _mixed_pitches(region: Region, operation: Operation) -> str | None:
    """Return that two inputs would differ in the bytes of a pixel."""
    inputs = [tensor for tensor in operation.inputs if tensor not in operation.broadcast_inputs]
    pitches = sorted({region.pitch(tensor, operation) for tensor in inputs})
    if len(pitches) == 1:
        return None
    sizes = " and ".join(map(str, pitches))
    return (
        f"would read two images of {operation.window.channels} channels, one from the CPU and one"
        f" from the engine, whose pixels lie {sizes} bytes apart"
    )


def _gaps(region: Region, operation: Operation) -> str | None:
    """Return that a reader needs the pixels of an operation without gaps between them."""
    if not region.is_padded(operation):
        return None
    channels = operation.output_channels
    left = f"writes an image of {channels} channels, whose pixels take {{}} bytes on the engine,"
    left = left.format(region.output_pitch(operation))
    if operation.output in region.stores:
        return f"{left} for the CPU or as a model output, which have no gaps between pixels"
    readers = [item for item in region.operations if operation.output in item.inputs]
    for reader in readers:
        if reader.window.channels != channels:
            return f"{left} for layer {reader.position}, which reads it in another shape"
    return None
