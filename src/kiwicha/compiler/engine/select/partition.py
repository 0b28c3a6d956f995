"""Regions: which operations the engine computes in one list, without the CPU."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set

from kiwicha.compiler.engine.ir.element_operations import ElementOperation, FloatConversion
from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.product_operations import ComputedProductOperation
from kiwicha.compiler.engine.ir.recurrent_operation import RecurrentOperation
from kiwicha.compiler.engine.ir.refusals import Troubles
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.softmax_operation import SoftmaxOperation
from kiwicha.compiler.engine.select.float_edges import without_conversions
from kiwicha.compiler.engine.select.shorts.kept_planes import with_kept_planes
from kiwicha.compiler.engine.select.state_writers import joined_states
from kiwicha.compiler.lower.network import Network

__all__ = ["padding_troubles", "partition"]


def partition(
    network: Network, operations: Mapping[int, Operation], cuts: Set[int]
) -> list[Region]:
    """Return the regions of the engine, in order; all other layers are for the CPU.

    A region ends at a layer of the CPU, where one tensor becomes part of another, or at a cut. One
    that begins with a product of computed matrices lies in the arena, where the region before it
    brings all of it: it ends at what needs more than a table. An LSTM is alone in its region.

    What is kept for the next inference is written last, in a region of its own: nothing else reads
    where it goes, and each of these operations reads where the ones before it have not written.
    What can be written earlier (`kiwicha.compiler.engine.select.state_writers`) is, at the end of
    the region that has made what it is cut off.

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
    early: dict[int, list[Operation]] = {}
    writers, joined = network.state_writers, joined_states(network)
    makers: dict[int, int] = {}
    merged = {position for operation in operations.values() for position in operation.merged}
    for position, layer in enumerate(network.layers):
        if position in cuts or position == min(writers, default=None):
            groups.append([])
        if position in operations:
            steps = operations[position].steps
            if position not in cuts and joined.get(position) in makers:
                early.setdefault(makers[joined[position]], []).extend(steps)
                continue
            is_edge = any(_has_other_edge(groups[-1], step) for step in steps)
            if is_edge or not all(_is_for(groups[-1], step) for step in steps):
                groups.append([])
            for step in steps:
                if isinstance(step, ComputedProductOperation):
                    groups.append([])
                groups[-1].append(step)
            makers |= dict.fromkeys((step.output for step in steps), len(groups) - 1)
            moves = [step for step in steps if isinstance(step, MoveOperation)]
            if position in writers:
                continue
            if moves and (layer.is_shared or any(_is_part(move) for move in moves)):
                # What it reads or writes is known in parts, too.
                groups.append([])
        elif position not in merged and (layer.kernel is not None or layer.is_shared):
            groups.append([])
    for number, made in early.items():
        groups[number] += made
    groups = [members for members in groups if members]
    read = Counter(t for members in groups for t in _inputs(members))
    regions = [_region(network, members, read) for members in groups]
    for region in regions:
        region.verify()
    return regions


def _inputs(members: Iterable[Operation]) -> set[int]:
    """Return the tensors that operations read."""
    return {tensor for operation in members for tensor in operation.inputs}


def _is_part(move: MoveOperation) -> bool:
    """Whether a move writes a part of a tensor of the network."""
    return move.place is not None and move.place[0] >= 0


def _is_for(members: list[Operation], operation: Operation) -> bool:
    """Whether an operation can be in the region of others.

    It needs no weights beside a product, and there is nothing beside an LSTM.
    """
    if members and any(isinstance(item, RecurrentOperation) for item in (members[0], operation)):
        return False
    if not members or not isinstance(members[0], ComputedProductOperation):
        return True
    is_table = isinstance(operation, ElementOperation) and operation.is_flat
    return is_table or isinstance(
        operation, MoveOperation | SoftmaxOperation | ComputedProductOperation
    )


def _region(network: Network, members: list[Operation], read: Counter[int]) -> Region:
    """Return the region of operations, given in how many regions each tensor is read."""
    inside = {position for operation in members for position in operation.positions}
    wanted = {*network.outputs, *network.shared}
    # Of a layer some steps can be in another region.
    wanted |= {t for t, count in read.items() if count > (t in _inputs(members))}
    for position, layer in enumerate(network.layers):
        for call in layer.calls if position not in inside else ():
            wanted |= {tensor for name, tensor in call.tensors.items() if name != "output"}
    edges = tuple(item.edge for item in members if isinstance(item, FloatConversion))
    left = with_kept_planes(without_conversions(members, frozenset(wanted)), wanted)
    written = {operation.output for operation in left}
    parts = {m.output for m in members if isinstance(m, MoveOperation) and m.place is not None}
    loads = frozenset(_inputs(left) - written)
    return Region(left, loads, frozenset(written & wanted | parts), edges)


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
    """Return tensors between whose pixels there must be no gaps.

    A job of windows writes pixels of whole words. Some readers need pixels without gaps: the CPU,
    an operation that sees other pixels, or one whose other input has none.
    """
    return Troubles(gaps=frozenset(gap for region in regions for gap in _gaps(region)))


def _gaps(region: Region) -> Iterator[int]:
    """Yield tensors between whose pixels there must be no gaps."""
    for operation in region.operations:
        if region.is_padded(operation) and _needs_dense(region, operation):
            yield operation.output


def _needs_dense(region: Region, writer: Operation) -> bool:
    """Whether a reader of an operation needs pixels without gaps."""
    tensor = writer.output
    if tensor in region.stores:
        return True
    for reader in region.operations:
        if tensor not in reader.inputs:
            continue
        if isinstance(reader, MoveOperation):
            copies = (copy for copy in reader.copies if copy.source == tensor)
            is_other = reader.images[tensor] != writer.output_image
            if is_other or any(region.copies_between(reader, copy) is None for copy in copies):
                return True
            continue
        others = (t for t in reader.inputs if t not in reader.broadcast_inputs)
        pitches = {region.pitch(other, reader) for other in others}
        if reader.window.channels != writer.output_channels or len(pitches) > 1:
            return True
    return False
