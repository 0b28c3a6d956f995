"""Tables of what moves take: their jobs, and their lists, between which are the transfers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.cost.job_work import job_work
from kiwicha.compiler.engine.cost.move_work import move_cycles
from kiwicha.contract.configs import Config, find_config
from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.contract.moves import AnyJob, EngineMove
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
        Of the input, or of both inputs of a CONCATENATION.
    order : tuple of int
        Of a TRANSPOSE, the order of dimensions; of a GATHER, the channels; of a STRIDED_SLICE, the
        steps; of a RESIZE_NEAREST_NEIGHBOR, rows and columns of the output.
    note : str
        What the table says besides.
    """

    operator: str
    shape: tuple[int, ...]
    order: tuple[int, ...] = ()
    note: str = ""

    @property
    def text(self) -> str:
        """What the table says."""
        texts = {
            "TRANSPOSE": f"TRANSPOSE {self.shape} by {self.order}",
            "GATHER": f"GATHER of {len(self.order)} channels of {self.shape}",
            "STRIDED_SLICE": f"STRIDED_SLICE {self.shape} in steps of {self.order}",
            "RESIZE_NEAREST_NEIGHBOR": f"RESIZE_NEAREST_NEIGHBOR {self.shape} to {self.order}",
            "CONCATENATION": f"CONCATENATION of two {self.shape}, of channels",
        }
        return texts[self.operator] + (f", {self.note}" if self.note else "")

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the output."""
        outer, channels = self.shape[:-1], self.shape[-1]
        if self.operator == "TRANSPOSE":
            return tuple(self.shape[axis] for axis in self.order)
        if self.operator == "GATHER":
            return (*outer, len(self.order))
        if self.operator == "CONCATENATION":
            return (*outer, 2 * channels)
        if self.operator == "STRIDED_SLICE":
            return tuple(-(-n // step) for n, step in zip(self.shape, self.order, strict=True))
        return (self.shape[0], *self.order, channels)

    @property
    def operands(self) -> tuple[tuple[int, ...], ...]:
        """The constants that it reads."""
        if self.operator == "STRIDED_SLICE":
            return (0,) * len(self.shape), self.shape, self.order
        return (self.order,) if self.order else ()

    def model(self) -> bytes:
        """Return the model."""
        builder = ModelBuilder("a move")
        count = 2 if self.operator == "CONCATENATION" else 1
        xs = [builder.tensor(self.shape, scale=0.05, zero_point=3) for _ in range(count)]
        y = builder.tensor(self.output_shape, scale=0.05, zero_point=3)
        arrays = [np.array(values, np.int32) for values in self.operands]
        constants = [builder.tensor(item.shape, np.int32, data=item) for item in arrays]
        has_axis = self.operator in {"GATHER", "CONCATENATION"}
        options = {"axis": len(self.shape) - 1} if has_axis else {}
        builder.operator(self.operator, [*xs, *constants], [y], **options)
        return builder.build(xs, [y])


def _random_order(channels: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng(0).permutation(channels).tolist())


MOVES = (
    MoveExample("TRANSPOSE", (1, 3, 224, 224), (0, 2, 3, 1)),
    MoveExample("TRANSPOSE", (1, 640, 640, 3), (0, 3, 1, 2)),
    MoveExample("TRANSPOSE", (1, 64, 28, 28), (0, 2, 3, 1)),
    MoveExample("TRANSPOSE", (1, 28, 28, 64), (0, 3, 1, 2)),
    MoveExample("TRANSPOSE", (1, 197, 12, 64), (0, 2, 1, 3)),
    MoveExample("TRANSPOSE", (1, 28, 28, 2, 58), (0, 1, 2, 4, 3)),
    MoveExample("TRANSPOSE", (1, 14, 14, 2, 116), (0, 1, 2, 4, 3)),
    MoveExample("TRANSPOSE", (300, 300), (1, 0)),
    MoveExample("GATHER", (1, 96, 96, 3), (2, 1, 0)),
    MoveExample("GATHER", (1, 33, 33, 3), (2, 1, 0)),
    MoveExample("GATHER", (1, 28, 28, 116), (*range(0, 116, 2), *range(1, 116, 2))),
    MoveExample("GATHER", (1, 28, 28, 32), _random_order(32), "in a random order"),
    MoveExample("GATHER", (1, 28, 28, 64), _random_order(64), "in a random order"),
    MoveExample("STRIDED_SLICE", (1, 28, 28, 24), (1, 1, 1, 2)),
    MoveExample("STRIDED_SLICE", (1, 96, 96, 1), (1, 2, 2, 1)),
    MoveExample("RESIZE_NEAREST_NEIGHBOR", (1, 28, 28, 1), (56, 56)),
    MoveExample("RESIZE_NEAREST_NEIGHBOR", (1, 28, 28, 3), (56, 56)),
    MoveExample("CONCATENATION", (1, 28, 28, 1)),
    MoveExample("CONCATENATION", (1, 28, 28, 12)),
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
        busy = sum(_cycles(job, find_config(CONFIG)) for job in jobs)
        cycles, _ = predict_program(stages.program)
        most = DDR3_QUARTER_RATE.bytes_per_cycle / 2
        yield item.text, f"{size:,}", f"{size / busy:.2f}", f"{size / cycles:.2f} of {most:g}"


def _cycles(job: AnyJob, config: Config) -> int:
    """Return the cycles of a job, of moves or of a convolution that picks bytes."""
    if isinstance(job, EngineMove):
        return move_cycles(job)
    work = job_work(job, config.engine_macs, config.requantizer_cycles)
    return work.start + work.groups * work.cycles + work.drain
