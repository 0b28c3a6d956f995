"""What the compiler expects of each layer: cycles, their cause, bits per weight of the engine's."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kiwicha.compiler.cpu.costs import cycles_by_step
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.compiler.engine.cost.progress import JobCycles
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.contract.codec import BEAT_BYTES
from kiwicha.contract.engine import EngineCall, EngineJob, JobFlag
from kiwicha.program.image import Program
from kiwicha.program.step_lists import list_of
from kiwicha.program.weight_streams import stream_shape

__all__ = ["LayerPrediction", "Predictions", "layer_predictions"]

_WEIGHTS_INPUT = 1
_OPERATORS_WITH_WEIGHTS = {
    "CONV_2D",
    "TRANSPOSE_CONV",
    "DEPTHWISE_CONV_2D",
    "FULLY_CONNECTED",
}


@dataclass(frozen=True)
class LayerPrediction:
    """One layer.

    Parameters
    ----------
    index : int
        Operator index in the model.
    operator : str
        TFLite operator name.
    cycles, busy : int
        Cycles of its jobs and of its steps of the CPU, which may run beside jobs; of them, those in
        which the engine's multipliers or tables work.
    bound : str
        What most of the time of its longest job is spent on; ``cpu`` if the CPU takes longer.
    where : str
        What executes it, as in reports.
    weights : int
        Weights that the model has for it, 0 without jobs.
    weight_bytes : int
        What they take as stored: words of the stream, without parameters.
    raw_weight_bytes : int
        What they would take if no stream were coded.
    """

    index: int
    operator: str
    cycles: int
    busy: int
    bound: str
    where: str
    weights: int
    weight_bytes: int
    raw_weight_bytes: int

    @property
    def weight_bits(self) -> float | None:
        """Stored bits per weight of the model; None without weights."""
        return 8 * self.weight_bytes / self.weights if self.weights else None


@dataclass(frozen=True)
class Predictions:
    """A Program with an engine.

    Parameters
    ----------
    cycles, cpu_cycles : int
        Of an inference; of them, those in which the engine does nothing.
    layers : tuple of LayerPrediction
        Those that take time.
    streams, coded_streams : int
        Weight streams; of them, those that are coded.
    stream_bytes : int
        All that they take, with parameters and tables.
    """

    cycles: int
    cpu_cycles: int
    layers: tuple[LayerPrediction, ...]
    streams: int
    coded_streams: int
    stream_bytes: int

    @property
    def weights(self) -> int:
        """Weights that the model has for the engine's layers."""
        return sum(layer.weights for layer in self.layers)

    @property
    def weight_bytes(self) -> int:
        """What they take as stored: words of the streams, without parameters."""
        return sum(layer.weight_bytes for layer in self.layers if layer.weights)

    @property
    def raw_weight_bytes(self) -> int:
        """What they would take if no stream were coded."""
        return sum(layer.raw_weight_bytes for layer in self.layers if layer.weights)

    @property
    def weight_bits(self) -> float | None:
        """Stored bits per weight of the model; None without weights."""
        return 8 * self.weight_bytes / self.weights if self.weights else None

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON object."""
        return {
            "cycles": self.cycles,
            "cpu_cycles": self.cpu_cycles,
            "weights": self.weights,
            "weight_bytes": self.weight_bytes,
            "raw_weight_bytes": self.raw_weight_bytes,
            "streams": self.streams,
            "coded_streams": self.coded_streams,
            "stream_bytes": self.stream_bytes,
            "layers": [dataclasses.asdict(layer) for layer in self.layers],
        }

    def table(self) -> str:
        """Return a line per layer, and totals."""
        head = f"{'layer':>5}  {'operator':18} {'cycles':>8} {'busy':>8}  {'bound':12} {'where':6}"
        lines = [f"{head} {'weights':>9} {'bits each':>9}"]
        for layer in self.layers:
            weights = f"{layer.weights:9} {layer.weight_bits:9.2f}" if layer.weights else ""
            text = f"{layer.index:5}  {layer.operator:18} {layer.cycles:8} {layer.busy:8}"
            lines.append(f"{text}  {layer.bound:12} {layer.where:6} {weights}".rstrip())
        lines.append(f"total {self.cycles} cycles, {self.cpu_cycles} of them on the CPU")
        if self.weight_bits is not None:
            lines.append(
                f"{self.weights} weights, {self.weight_bits:.3f} bits each; "
                f"{self.coded_streams} of {self.streams} weight streams coded, "
                f"{self.stream_bytes} bytes with parameters"
            )
        return "\n".join(lines)


@dataclass
class _Found:
    """What the steps say about a layer of the Program."""

    jobs: list[JobCycles] = field(default_factory=list)
    cpu_cycles: int = 0
    weight_bytes: int = 0
    raw_weight_bytes: int = 0


def layer_predictions(graph: Graph, program: Program) -> Predictions:
    """Return what to expect of a Program.

    Parameters
    ----------
    graph : Graph
        That of the network that it was made from.
    program : Program
        For an engine.
    """
    total, lists = predict_program(program)
    found: dict[int, _Found] = {}
    streams: dict[int, EngineJob] = {}
    for number, (_, cycles) in lists.items():
        step = program.steps[number]
        assert isinstance(step.params, EngineCall)
        for job, its_cycles in zip(list_of(program, step).jobs, cycles, strict=True):
            layer = found.setdefault(step.layer + job.layer, _Found())
            layer.jobs.append(its_cycles)
            if not isinstance(job, EngineJob) or job.weights_offset >= step.params.image.bytes:
                # It has no weights, or computed ones.
                continue
            # Lists of a region share their streams.
            place = step.params.image.offset + job.weights_offset
            if place in streams:
                continue
            streams[place] = job
            shape = stream_shape(job, step.params.macs)
            head_bytes = sum(shape.heads) * BEAT_BYTES
            layer.weight_bytes += job.weights_bytes - head_bytes
            layer.raw_weight_bytes += shape.raw_bytes - head_bytes
    lengths = {number: cycles for number, (cycles, _) in lists.items()}
    on_cpu = cycles_by_step(program.steps, lengths, has_signal=program.config.has_signal)
    for number, taken in on_cpu.items():
        found.setdefault(program.steps[number].layer, _Found()).cpu_cycles += taken
    return Predictions(
        cycles=total,
        cpu_cycles=total - sum(cycles for cycles, _ in lists.values()),
        layers=tuple(_layers(graph, program, found)),
        streams=len(streams),
        coded_streams=sum(bool(job.flags & JobFlag.CODED) for job in streams.values()),
        stream_bytes=sum(job.weights_bytes for job in streams.values()),
    )


def _layers(graph: Graph, program: Program, found: Mapping[int, _Found]) -> list[LayerPrediction]:
    layers = []
    for position, item in sorted(found.items()):
        report = program.layers[position]
        cycles = sum(job.end - job.start for job in item.jobs)
        longest = max(item.jobs, key=lambda job: job.end - job.start, default=None)
        layers.append(
            LayerPrediction(
                index=report.index,
                operator=report.operator,
                cycles=cycles + item.cpu_cycles,
                busy=sum(job.busy for job in item.jobs),
                bound="cpu" if longest is None or item.cpu_cycles > cycles else longest.bound,
                where=report.where.text,
                weights=_weights(graph, graph.operators[report.index]) if item.jobs else 0,
                weight_bytes=item.weight_bytes,
                raw_weight_bytes=item.raw_weight_bytes,
            )
        )
    return layers


def _weights(graph: Graph, operator: Operator) -> int:
    """Return how many weights an operator has."""
    if operator.name not in _OPERATORS_WITH_WEIGHTS:
        return 0
    return graph.tensors[operator.inputs[_WEIGHTS_INPUT]].elements
