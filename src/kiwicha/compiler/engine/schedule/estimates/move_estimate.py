"""What stripes of a move take alone, by its transfers: to choose between two forms of it."""

import math

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.schedule.estimates.estimate import transfer_cycles
from kiwicha.contract.configs import Config

__all__ = ["striping_cycles"]


def striping_cycles(operation: Operation, config: Config) -> float:
    """Return the cycles of a move's transfers if no tensor stays in the scratchpad.

    Parameters
    ----------
    operation : Operation
        Anything else than a move counts as nothing.
    config : Config
        With an engine.
    """
    if not isinstance(operation, MoveOperation):
        return 0.0
    rows = operation.window.output_rows
    height = rows
    while height:
        loads = [_read(operation, tensor, height) for tensor in operation.inputs]
        written = height * operation.output_image.row_bytes
        # Those of the next stripe are on their way.
        if 2 * (sum(size for size, _ in loads) + written) <= config.scratchpad_bytes:
            cycles = sum(transfer_cycles(size, config.memory, count) for size, count in loads)
            return (
                rows / height * (cycles + transfer_cycles(written, config.memory, operation.planes))
            )
        height //= 2
    return math.inf


def _read(operation: MoveOperation, tensor: int, height: int) -> tuple[int, int]:
    """Return the bytes of an input that the first stripe reads, and in how many transfers."""
    planes = operation.planes_read(tensor, 0, height)
    if planes is not None and planes.is_worthwhile:
        count = planes.end - planes.first
        return count * (planes.high - planes.low), count
    first, end = operation.rows_read(tensor, 0, height)
    return (end - first) * operation.images[tensor].row_bytes, 1
