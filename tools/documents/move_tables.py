"""Tables of what moves take: their jobs, and their lists, between which are the transfers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.cost.move_work import move_cycles
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.contract.moves import EngineMove
from kiwicha.tflite_writer.builder import ModelBuilder
from tools.documents.markdown import table

__all__ = ["MOVES", "MoveExample", "move_tables"]

CONFIG = "64"


@dataclass(frozen=True)
class MoveExample:
    """A model of one move.

    Parameters
    ----------
    operator : str
        Its name.
    shape : tuple of int
        Of the input.
    order : tuple of int
        Of a TRANSPOSE, the order of dimensions; of a GATHER or STRIDED_SLICE, the channels.
    """

    operator: str
    shape: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def text(self) -> str:
        """What the table says."""
        if self.operator == "TRANSPOSE":
            return f"TRANSPOSE {self.shape} by {self.order}"
        return f"{self.operator} of {len(self.order)} channels of {self.shape}"

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the output."""
        if self.operator == "TRANSPOSE":
            return tuple(self.shape[axis] for axis in self.order)
        return (*self.shape[:-1], len(self.order))

    def model(self) -> bytes:
        """Return the model."""
        builder = ModelBuilder("a move")
        x = builder.tensor(self.shape, scale=0.05, zero_point=3)
        y = builder.tensor(self.output_shape, scale=0.05, zero_point=3)
        order = np.array(self.order, np.int32)
        constant = builder.tensor(order.shape, np.int32, data=order)
        options = {"axis": len(self.shape) - 1} if self.operator == "GATHER" else {}
        builder.operator(self.operator, [x, constant], [y], **options)
        return builder.build([x], [y])


MOVES = (
    MoveExample("TRANSPOSE", (1, 3, 224, 224), (0, 2, 3, 1)),
    MoveExample("TRANSPOSE", (1, 64, 28, 28), (0, 2, 3, 1)),
    MoveExample("TRANSPOSE", (1, 28, 28, 64), (0, 3, 1, 2)),
    MoveExample("TRANSPOSE", (1, 197, 12, 64), (0, 2, 1, 3)),
    MoveExample("TRANSPOSE", (1, 28, 28, 2, 58), (0, 1, 2, 4, 3)),
    MoveExample("TRANSPOSE", (300, 300), (1, 0)),
    MoveExample("GATHER", (1, 96, 96, 3), (2, 1, 0)),
    MoveExample("GATHER", (1, 28, 28, 116), (*range(0, 116, 2), *range(1, 116, 2))),
)


def move_tables(moves: Sequence[MoveExample] = MOVES) -> str:
    """Return bytes of the output for each cycle, of the jobs alone and of all."""
    titles = ("move", "bytes:", "of its jobs, in a cycle:", "from DRAM to DRAM:")
    return "\n".join(table(titles, _rows(moves)))


def _rows(moves: Sequence[MoveExample]) -> Iterator[tuple[str, ...]]:
    for item in moves:
        stages = compile_stages(item.model(), CONFIG)
        size = prod(item.output_shape)
        jobs = [job for found in stages.lists for job in found.jobs]
        busy = sum(move_cycles(job) for job in jobs if isinstance(job, EngineMove))
        cycles, _ = predict_program(stages.program)
        most = DDR3_QUARTER_RATE.bytes_per_cycle / 2
        yield item.text, f"{size:,}", f"{size / busy:.2f}", f"{size / cycles:.2f} of {most:g}"
