"""The move that brings computed matrices to the order of weight streams.

Behind the parameters of a group lies, for each element of a row, what the group's outputs multiply
it by: a transposed part of the matrix.
"""

from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import internal_tensor
from kiwicha.compiler.engine.ir.strided_copies import Loop, StridedCopy, in_order
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.contract.engine import GROUP_PARAMETER_BYTES, INPUT_LANES
from kiwicha.program.weight_streams import Parameters, pack_groups

__all__ = ["LIST_TENSOR", "Matrices", "stream_move"]

_STREAMS, LIST_TENSOR, _PARAMETERS = range(3)
"""Numbers of tensors that only such a layer knows: the streams, their list, and parameters."""


@dataclass(frozen=True)
class Matrices:
    """Computed matrices, which lie behind each other row by row.

    Parameters
    ----------
    count : int
        How many.
    rows : int
        Rows of each: outputs of the product.
    depth : int
        Elements of a row.
    zero_point : int
        What stands for 0.
    """

    count: int
    rows: int
    depth: int
    zero_point: int


def stream_move(
    position: int, tensor: int, matrices: Matrices, parameters: Parameters, outputs: int
) -> MoveOperation:
    """Return the move that makes weight streams of matrices.

    Parameters
    ----------
    position : int
        Position of the layer that multiplies by them.
    tensor : int
        Where the matrices are.
    matrices : Matrices
        What they are.
    parameters : Parameters
        Of the rows.
    outputs : int
        Outputs of a group.
    """
    groups = -(-matrices.rows // outputs)
    whole, left = divmod(matrices.rows, outputs)
    depth = -(-matrices.depth // INPUT_LANES) * INPUT_LANES
    head = outputs * GROUP_PARAMETER_BYTES
    size = head + outputs * depth
    fill = matrices.zero_point
    head_bytes = pack_groups(parameters, np.zeros((groups, 0, 1), np.int8), outputs)
    constant = internal_tensor(position, _PARAMETERS)

    def copy(
        source: int | None, starts: tuple[int, int], loops: list[Loop], piece: int
    ) -> StridedCopy:
        """Return a copy for each matrix."""
        # With the target's steps what fills gaps has as few loops as can be.
        steps = {None: groups * size, constant: 0}
        step = steps.get(source, matrices.rows * matrices.depth)
        each = Loop(matrices.count, step, groups * size)
        ordered, piece_bytes = in_order([each, *loops], piece)
        return StridedCopy(source, starts[0], starts[1], ordered, piece_bytes, fill)

    across = Loop(groups, head, size)
    copies = [copy(constant, (0, 0), [across], head)]
    if depth > matrices.depth:
        behind = head + outputs * matrices.depth
        copies.append(
            copy(None, (0, behind), [Loop(groups, size, size)], outputs * (depth - matrices.depth))
        )
    if left:
        # Outputs that are not there; what is there is written over it.
        copies.append(copy(None, (0, whole * size + head), [], outputs * depth))
    along = Loop(matrices.depth, 1, outputs)
    row = matrices.depth
    if whole:
        loops = [Loop(whole, outputs * row, size), Loop(outputs, row, 1), along]
        copies.append(copy(tensor, (0, head), loops, 1))
    if left:
        starts = whole * outputs * row, whole * size + head
        copies.append(copy(tensor, starts, [Loop(left, row, 1), along], 1))
    images = {
        tensor: Image(matrices.count * matrices.rows, 1, matrices.depth),
        constant: Image(1, 1, len(head_bytes)),
    }
    move = moved(
        position,
        copies,
        images,
        internal_tensor(position, _STREAMS),
        Image(matrices.count * groups, 1, size),
        {constant: head_bytes},
    )
    return move.with_place((internal_tensor(position, LIST_TENSOR), 0))
