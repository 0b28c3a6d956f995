"""What a run cost, layer by layer, and as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineCall, JobFlag, JobKind
from kiwicha.program.image import Program
from kiwicha.program.parts import Step
from kiwicha.program.step_lists import list_of

__all__ = ["LayerReport", "Report", "hidden_cycles", "make_report", "read_report"]


@dataclass(frozen=True)
class LayerReport:
    """One operator of the model.

    Parameters
    ----------
    index : int
        Operator index in the model.
    op : str
        TFLite operator name.
    shape : tuple of int
        First output.
    where : str
        What executed it.
    macs : int
        Multiply-accumulates of one inference.
    cycles : int or None
        Cycles in the last inference; None if nothing counted them.
    predicted : int or None
        By the compiler's model; None without an engine.
    behind : int or None
        Operator index of the convolution behind which its sums are made; None for others.
    """

    index: int
    op: str
    shape: tuple[int, ...]
    where: str
    macs: int
    cycles: int | None
    predicted: int | None = None
    behind: int | None = None


@dataclass(frozen=True)
class Report:
    """One model on one configuration and target.

    Parameters
    ----------
    model, config, target : str
        Names on the command line.
    memory : str
        Name of the memory that it was compiled for.
    clock_hz : int
        Frequency that turns cycles into time.
    macs_per_cycle : int
        What the configuration's hardware can do.
    cycles : int or None
        Of the second inference in a row, or of the first if only one ran; None if not simulated.
    cycles_first : int or None
        Of the first inference, with cold caches.
    bit_exact : bool or None
        Whether the outputs equal what they were compared with; None if with nothing.
    layers : tuple of LayerReport
        In the model's order.
    predicted : int or None
        Cycles of an inference by the compiler's model; None without an engine.
    counters : mapping or None
        What the engine's cycles in the last inference were used for, by name; likewise.
    profile : mapping or None
        What pages show, see `kiwicha.sim.profile.profile`; None if not simulated.
    period : int or None
        Cycles from one inference of a stream of inputs to the next; None if none was simulated.
    copied_bytes : int or None
        Inputs and outputs that the CPU copies in such a period; likewise.
    """

    model: str
    config: str
    target: str
    memory: str
    clock_hz: int
    macs_per_cycle: int
    cycles: int | None
    cycles_first: int | None
    bit_exact: bool | None
    layers: tuple[LayerReport, ...]
    predicted: int | None = None
    counters: Mapping[str, int] | None = None
    profile: Mapping[str, Any] | None = None
    period: int | None = None
    copied_bytes: int | None = None

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one inference."""
        return sum(layer.macs for layer in self.layers)

    @property
    def utilization(self) -> float | None:
        """Share of the hardware's multiply-accumulates that the model used; 0 to 1."""
        return self.macs / (self.cycles * self.macs_per_cycle) if self.cycles else None

    @property
    def milliseconds(self) -> float | None:
        """Time of one inference at `clock_hz`."""
        return None if self.cycles is None else 1e3 * self.cycles / self.clock_hz

    def to_json(self) -> dict[str, Any]:
        """Return the documented JSON object."""
        engine = {"predicted": self.predicted, "counters": dict(self.counters or {})}
        return {
            "model": self.model,
            "config": self.config,
            "target": self.target,
            "memory": self.memory,
            "cycles": self.cycles,
            "cycles_first": self.cycles_first,
            **({"period": self.period} if self.period is not None else {}),
            **({"copied_bytes": self.copied_bytes} if self.copied_bytes is not None else {}),
            "macs": self.macs,
            "utilization": self.utilization,
            "bit_exact": self.bit_exact,
            "clock_hz": self.clock_hz,
            "layers": [
                {
                    "index": layer.index,
                    "op": layer.op,
                    "where": layer.where,
                    "cycles": layer.cycles,
                    "macs": layer.macs,
                    **({"predicted": layer.predicted} if layer.predicted is not None else {}),
                    **({"behind": layer.behind} if layer.behind is not None else {}),
                }
                for layer in self.layers
            ],
            **(engine if self.predicted is not None else {}),
            **({"profile": self.profile} if self.profile is not None else {}),
        }


def make_report(
    program: Program,
    *,
    model: str,
    config: Config,
    target: str,
    clock_hz: int,
    step_cycles: Sequence[Sequence[int]],
    inference_cycles: Sequence[int],
    bit_exact: bool | None,
    job_ends: Sequence[Sequence[Sequence[int]]] = (),
    predicted: Sequence[int] | None = None,
    counters: Mapping[str, int] | None = None,
    profile: Mapping[str, Any] | None = None,
) -> Report:
    """Return the report of a run.

    Parameters
    ----------
    program : Program
        What ran.
    model : str
        Name of the model.
    config : Config
        What it ran on.
    target : str
        ``reference`` or ``sim``.
    clock_hz : int
        Frequency that turns cycles into time.
    step_cycles : sequence of sequence of int
        Cycles of each step of each inference; empty if nothing counted them.
    inference_cycles : sequence of int
        Cycles of each inference, from the first to the last step; likewise.
    predicted : sequence of int, optional
        Cycles of each layer by the compiler's model, which together are those of an inference.
    bit_exact, counters, profile
        See `Report`.
    job_ends : sequence of sequence of sequence of int
        For each inference and step, the cycles in which the engine's jobs ended; needed for
        Programs with an engine.
    """
    cycles: list[int | None] = [None] * len(program.layers)
    if step_cycles:
        ends = job_ends[-1] if job_ends else [()] * len(program.steps)
        by_layer = [0] * len(program.layers)
        for step, spent, its_ends in zip(program.steps, step_cycles[-1], ends, strict=True):
            for layer, share in _shares(program, step, spent, its_ends):
                by_layer[layer] += share
        cycles = list(by_layer)
    return Report(
        model=model,
        config=config.name,
        target=target,
        memory=config.memory.name,
        clock_hz=clock_hz,
        macs_per_cycle=config.macs_per_cycle,
        cycles=inference_cycles[-1] if inference_cycles else None,
        cycles_first=inference_cycles[0] if inference_cycles else None,
        bit_exact=bit_exact,
        layers=_layer_reports(program, cycles, predicted),
        predicted=None if predicted is None else sum(predicted),
        counters=counters,
        profile=profile,
    )


def read_report(
    kept: Mapping[str, Any],
    program: Program,
    config: Config,
    *,
    predicted: Sequence[int] | None = None,
) -> Report:
    """Return the report of a run that was measured before, from its JSON object.

    Parameters
    ----------
    kept : mapping
        What `Report.to_json` gave.
    program, config
        What ran, and on what.
    predicted : sequence of int, optional
        As in `make_report`: predictions are those of now.
    """
    spent = {layer["index"]: layer["cycles"] for layer in kept["layers"]}
    return Report(
        **{name: kept[name] for name in ("model", "config", "target", "memory", "clock_hz")},
        **{name: kept[name] for name in ("cycles", "cycles_first", "bit_exact")},
        macs_per_cycle=config.macs_per_cycle,
        layers=_layer_reports(program, [spent[layer.index] for layer in program.layers], predicted),
        predicted=None if predicted is None else sum(predicted),
        counters=kept.get("counters"),
        profile=kept.get("profile"),
        period=kept.get("period"),
        copied_bytes=kept.get("copied_bytes"),
    )


def _layer_reports(
    program: Program, cycles: Sequence[int | None], predicted: Sequence[int] | None
) -> tuple[LayerReport, ...]:
    by_model: Sequence[int | None] = predicted or [None] * len(program.layers)
    convolutions = _convolutions_with_sums(program)
    return tuple(
        LayerReport(
            index=layer.index,
            op=layer.operator,
            shape=layer.shape,
            where=layer.where.text,
            macs=layer.macs,
            cycles=spent,
            predicted=expected,
            behind=convolutions.get(position),
        )
        for position, (layer, spent, expected) in enumerate(
            zip(program.layers, cycles, by_model, strict=True)
        )
    )


def _convolutions_with_sums(program: Program) -> dict[int, int]:
    """Return for each layer whose sums are made behind another one's convolution its index."""
    found = {}
    for step in program.steps:
        if not isinstance(step.params, EngineCall):
            continue
        # The job that brings the tables comes right before the convolution.
        for job, following in pairwise(list_of(program, step).jobs):
            if job.kind == JobKind.ADD and job.flags & JobFlag.FUSED:
                # Of a Program from a file, layers that are too far from a list's first one count
                # as one.
                if following.layer != job.layer:
                    convolution = program.layers[step.layer + following.layer]
                    found[step.layer + job.layer] = convolution.index
    return found


def hidden_cycles(call: EngineCall, spent: int, job_ends: Sequence[int]) -> int:
    """Return the cycles of a list, from its start, that count for steps of the CPU beside it."""
    return max(0, max(job_ends) - spent) if call.overlapped_steps else 0


def _shares(
    program: Program, step: Step, spent: int, job_ends: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield layer numbers with their cycles in a step.

    A job has the cycles since the end of the one that ended before it; what comes after the last
    one (storing results, waking the CPU) counts for its layer. Cycles in which the engine worked
    while the CPU executed steps of its own, after the start of the list, count for those.
    """
    if not isinstance(step.params, EngineCall):
        yield step.layer, spent
        return
    jobs = list_of(program, step).jobs
    hidden = hidden_cycles(step.params, spent, job_ends)
    before = 0
    # Those of the depthwise unit end beside others.
    ended = sorted(zip(jobs, job_ends, strict=True), key=lambda item: item[1])
    for job, end in ended:
        shown = max(0, end - hidden)
        yield step.layer + job.layer, shown - before
        before = shown
    yield step.layer + ended[-1][0].layer, spent - before
