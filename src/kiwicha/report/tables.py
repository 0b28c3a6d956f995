"""Reports of runs as tables, and in one line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.table import Table

from kiwicha.contract.memories import DDR3_QUARTER_RATE
from kiwicha.report.run_report import Report

__all__ = ["Beside", "bench_table", "counter_table", "layer_table", "summary"]


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _rate(macs: int, cycles: int | None) -> str:
    return f"{macs / cycles:.3f}" if cycles and macs else "-"


def _ratio(base: int | None, cycles: int | None) -> str:
    if not base or not cycles:
        return "-"
    return f"{base / cycles:,.{0 if base >= 100 * cycles else 1}f}x"


def _deviation(report: Report) -> str:
    if report.predicted is None or not report.cycles:
        return "-"
    return f"{100 * (report.predicted / report.cycles - 1):+.1f} %"


def _memory(report: Report) -> str:
    """Name a memory that is not the usual one."""
    return "" if report.memory == DDR3_QUARTER_RATE.name else f" with {report.memory}"


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


@dataclass(frozen=True)
class Beside:
    """What another configuration takes for the same model.

    Parameters
    ----------
    config : str
        Its name.
    cycles : int or None
        Of an inference.
    by_layer : mapping
        Cycles of each layer by its number.
    """

    config: str
    cycles: int | None
    by_layer: Mapping[int, int | None]

    @classmethod
    def of(cls, report: Report) -> "Beside":
        """Return what a run has of it."""
        by_layer = {layer.index: layer.cycles for layer in report.layers}
        return cls(report.config, report.cycles, by_layer)


def layer_table(report: Report, others: Sequence[Beside] = ()) -> Table:
    """Return the table of a run, one row per operator and a row of totals.

    Parameters
    ----------
    report : Report
        The run.
    others : sequence of Beside
        The same model on other configurations: adds the cycles of each, and how much faster the run
        is, in the place of shapes and of MACs per cycle.
    """
    title = f"{report.model} on {report.config}{_memory(report)} ({report.target})"
    table = Table(title=title, show_footer=True)
    table.add_column("#", justify="right")
    table.add_column("operator", footer="total")
    if not others:
        table.add_column("output")
    table.add_column("MACs", justify="right", footer=_count(report.macs))
    table.add_column("cycles", justify="right", footer=_count(report.cycles))
    if not others:
        table.add_column("MACs/cycle", justify="right", footer=_rate(report.macs, report.cycles))
    table.add_column("where")
    for other in others:
        table.add_column(other.config, justify="right", footer=_count(other.cycles))
        table.add_column("faster", justify="right", footer=_ratio(other.cycles, report.cycles))
    for layer in report.layers:
        shape = "x".join(str(size) for size in layer.shape)
        cells = [
            *(str(layer.index), layer.op, *([] if others else [shape])),
            *(_count(layer.macs) if layer.macs else "-", _count(layer.cycles)),
            *([] if others else [_rate(layer.macs, layer.cycles)]),
            layer.where,
        ]
        for other in others:
            cycles = other.by_layer.get(layer.index)
            cells += [_count(cycles), _ratio(cycles, layer.cycles)]
        table.add_row(*cells)
    return table


def summary(report: Report) -> str:
    """Return a run in one line."""
    parts = [f"{report.model} on {report.config}{_memory(report)}: {report.macs:,} MACs"]
    if report.cycles is not None and report.milliseconds is not None:
        parts.append(f"{report.cycles:,} cycles")
        parts.append(f"{report.milliseconds:,.1f} ms at {report.clock_hz / 1e6:g} MHz")
    if report.utilization is not None:
        parts.append(f"{100 * report.utilization:.1f} % of the multipliers")
    if report.predicted is not None and report.cycles:
        parts.append(f"{report.predicted:,} predicted ({_deviation(report)})")
    if report.period is not None:
        parts.append(f"{report.period:,} from one of a stream to the next")
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
        columns[1:2] = ["first", "cycles", "period", "predicted", "off by"]
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
                _count(report.period),
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
