"""What operations of one tensor take alone, with that in the arena: to choose between forms."""

import dataclasses
import math
from collections.abc import Sequence
from functools import lru_cache

from kiwicha.compiler.engine.ir.move_operations import MoveOperation, moved
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.refusals import RefusedError
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.strided_copies import StridedCopy
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.schedule.residency import Chooser
from kiwicha.contract.configs import Config

__all__ = ["cycles_alone", "move_cycles_alone"]

_INPUT, _OUTPUT = 0, 1


def move_cycles_alone(operation: Operation, config: Config) -> float:
    """Return the cycles of a move of one tensor from and to DRAM; infinite if it does not fit.

    Parameters
    ----------
    operation : Operation
        Anything else counts as nothing.
    config : Config
        With an engine.
    """
    if not isinstance(operation, MoveOperation) or len(operation.inputs) > 1:
        return 0.0
    copies = tuple(
        copy if copy.source is None else dataclasses.replace(copy, source=_INPUT)
        for copy in operation.copies
    )
    (tensor,) = operation.inputs
    shape = operation.images[tensor], operation.output_image, operation.planes
    return _cycles(copies, *shape, config)


# Networks have many moves of the same shape.
@lru_cache(maxsize=256)
def _cycles(
    copies: tuple[StridedCopy, ...], image: Image, output_image: Image, planes: int, config: Config
) -> float:
    found = moved(0, copies, {_INPUT: image}, _OUTPUT, output_image)
    move = dataclasses.replace(found, planes=planes)
    return cycles_alone([move], config)


def cycles_alone(operations: Sequence[Operation], config: Config) -> float:
    """Return the cycles of operations from and to DRAM; infinite if they do not fit.

    Parameters
    ----------
    operations : sequence of Operation
        Of one input; each but the first reads what the one before it writes.
    config : Config
        With an engine.
    """
    loads = frozenset(operations[0].inputs)
    region = Region(tuple(operations), loads, frozenset({operations[-1].output}))
    try:
        chooser = Chooser(region, config.engine_macs, config.memory)
        return chooser.cycles(config.scratchpad_bytes)
    except RefusedError:
        return math.inf
