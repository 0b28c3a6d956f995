"""What a run cost, layer by layer: as JSON, as a table, in one line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from kiwicha.engine_list import read_list
from kiwicha.isa import Config, EngineRun
from kiwicha.program import Program, Step

__all__ = [
    "LayerReport",
    "Report",
    "bench_table",
    "counter_table",
    "hidden_cycles",
    "layer_table",
    "make_report",
    "summary",
]


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
    """

    index: int
    op: str
    shape: tuple[int, ...]
    where: str
    macs: int
    cycles: int | None


@dataclass(frozen=True)
class Report:
    """One model on one configuration and target.

    Parameters
    ----------
    model, config, target : str
        Names on the command line.
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
        What pages show, see `kiwicha.sim.profile`; None if not simulated.
    """

    model: str
    config: str
    target: str
    clock_hz: int
    macs_per_cycle: int
    cycles: int | None
    cycles_first: int | None
    bit_exact: bool | None
    layers: tuple[LayerReport, ...]
    predicted: int | None = None
    counters: Mapping[str, int] | None = None
    profile: Mapping[str, Any] | None = None

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
            "cycles": self.cycles,
            "cycles_first": self.cycles_first,
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
    predicted: int | None = None,
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
    bit_exact, predicted, counters, profile
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
        clock_hz=clock_hz,
        macs_per_cycle=config.macs_per_cycle,
        cycles=inference_cycles[-1] if inference_cycles else None,
        cycles_first=inference_cycles[0] if inference_cycles else None,
        bit_exact=bit_exact,
        layers=tuple(
            LayerReport(
                layer.index, layer.operator, layer.shape, layer.where.text, layer.macs, spent
            )
            for layer, spent in zip(program.layers, cycles, strict=True)
        ),
        predicted=predicted,
        counters=counters,
        profile=profile,
    )


def hidden_cycles(run: EngineRun, spent: int, job_ends: Sequence[int]) -> int:
    """Return the cycles of a list, from its start, that count for steps of the CPU beside it."""
    return max(0, job_ends[-1] - spent) if run.overlapped_steps else 0


def _shares(
    program: Program, step: Step, spent: int, job_ends: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield layer numbers with their cycles in a step.

    A job has the cycles since the end of the one before; what comes after the last job (storing
    results, waking the CPU) counts for its layer. Cycles in which the engine worked while the CPU
    executed steps of its own, after the start of the list, count for those.
    """
    if not isinstance(step.params, EngineRun):
        yield step.layer, spent
        return
    image = program.constants[step.params.image.offset :][: step.params.image.bytes]
    jobs = read_list(step.params, image).jobs
    hidden = hidden_cycles(step.params, spent, job_ends)
    before = 0
    for job, end in zip(jobs, job_ends, strict=True):
        shown = max(0, end - hidden)
        yield step.layer + job.layer, shown - before
        before = shown
    yield step.layer + jobs[-1].layer, spent - before


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _rate(macs: int, cycles: int | None) -> str:
    return f"{macs / cycles:.3f}" if cycles and macs else "-"


def _ratio(base: int | None, cycles: int | None) -> str:
    return f"{base / cycles:.1f}x" if base and cycles else "-"


def _deviation(report: Report) -> str:
    if report.predicted is None or not report.cycles:
        return "-"
    return f"{100 * (report.predicted / report.cycles - 1):+.1f} %"


def counter_table(reports: Iterable[Report]) -> Table:
    """Return what the engine's cycles were used for, a row for each run that has an engine."""
    table = Table(title="cycles of the engine")
    table.add_column("model")
    table.add_column("config")
    shown = [report for report in reports if report.counters]
    names = list(dict.fromkeys(name for report in shown for name in report.counters or {}))
    for name in names:
        table.add_column(name.replace("_", " "), justify="right")
    for report in shown:
        counters = report.counters or {}
        table.add_row(report.model, report.config, *(_count(counters.get(name)) for name in names))
    return table


def layer_table(report: Report, baseline: Report | None = None) -> Table:
    """Return the table of a run, one row per operator and a row of totals.

    Parameters
    ----------
    report : Report
        The run.
    baseline : Report, optional
        The same model on the baseline: adds its cycles and the speed-up.
    """
    table = Table(title=f"{report.model} on {report.config} ({report.target})", show_footer=True)
    table.add_column("#", justify="right")
    table.add_column("operator", footer="total")
    table.add_column("output")
    table.add_column("MACs", justify="right", footer=_count(report.macs))
    table.add_column("cycles", justify="right", footer=_count(report.cycles))
    table.add_column("MACs/cycle", justify="right", footer=_rate(report.macs, report.cycles))
    table.add_column("where")
    if baseline is not None:
        table.add_column("baseline", justify="right", footer=_count(baseline.cycles))
        table.add_column("speed-up", justify="right", footer=_ratio(baseline.cycles, report.cycles))
    for number, layer in enumerate(report.layers):
        cells = [
            str(layer.index),
            layer.op,
            "x".join(str(size) for size in layer.shape),
            _count(layer.macs) if layer.macs else "-",
            _count(layer.cycles),
            _rate(layer.macs, layer.cycles),
            layer.where,
        ]
        if baseline is not None:
            base = baseline.layers[number].cycles
            cells += [_count(base), _ratio(base, layer.cycles)]
        table.add_row(*cells)
    return table


def summary(report: Report) -> str:
    """Return a run in one line."""
    parts = [f"{report.model} on {report.config}: {report.macs:,} MACs"]
    if report.cycles is not None and report.milliseconds is not None:
        parts.append(f"{report.cycles:,} cycles")
        parts.append(f"{report.milliseconds:,.1f} ms at {report.clock_hz / 1e6:g} MHz")
    if report.utilization is not None:
        parts.append(f"{100 * report.utilization:.1f} % of the multipliers")
    if report.predicted is not None and report.cycles:
        parts.append(f"{report.predicted:,} predicted ({_deviation(report)})")
    if report.bit_exact is not None:
        parts.append("bit-exact" if report.bit_exact else "NOT bit-exact")
    return ", ".join(parts)


def bench_table(rows: Iterable[tuple[Report, float]]) -> Table:
    """Return the table of several runs.

    Parameters
    ----------
    rows : iterable of (Report, float)
        Each run, with the simulated cycles per second of this machine.
    """
    table = Table()
    table.add_column("model")
    table.add_column("config")
    shown = list(rows)
    has_engine = any(report.predicted is not None for report, _ in shown)
    columns = ["MACs", "cycles", "MACs/cycle", "utilization", "time", "simulation"]
    if has_engine:
        columns[1:2] = ["first", "cycles", "predicted", "off by"]
    for name in columns:
        table.add_column(name, justify="right")
    table.add_column("bit-exact")
    for report, simulation_hz in shown:
        utilization, milliseconds = report.utilization, report.milliseconds
        cycles = [_count(report.cycles)]
        if has_engine:
            cycles = [
                _count(report.cycles_first),
                *cycles,
                _count(report.predicted),
                _deviation(report),
            ]
        table.add_row(
            report.model,
            report.config,
            _count(report.macs),
            *cycles,
            _rate(report.macs, report.cycles),
            "-" if utilization is None else f"{100 * utilization:.1f} %",
            "-" if milliseconds is None else f"{milliseconds:,.1f} ms",
            f"{simulation_hz / 1e3:,.0f} k/s",
            {True: "yes", False: "NO", None: "-"}[report.bit_exact],
        )
    return table
