"""Runs of ``kiwicha bench`` that its file has from before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kiwicha.commands.execution import Outcome, Workload, predicted_layers
from kiwicha.html_report.files import read_files
from kiwicha.report.run_report import read_report
from kiwicha.sim.verilator.fingerprint import run_fingerprint

__all__ = ["MeasuredRun", "kept_runs"]


@dataclass(frozen=True)
class MeasuredRun:
    """A run: its outcome, hashes of what ran, the seconds that it took, and how it was made."""

    outcome: Outcome
    inputs: dict[str, str]
    seconds: int
    made: Mapping[str, str]


def kept_runs(
    path: Path, workloads: Sequence[Workload], *, stream: bool = False
) -> dict[int, MeasuredRun]:
    """Return what need not run again, by number.

    A run is kept if hardware, firmware and Program have the same hashes now. Outcomes that were
    not bit-exact are not kept.

    Parameters
    ----------
    path : Path
        A file that ``--json`` wrote; it need not exist.
    workloads : sequence of Workload
        What is to run.
    stream : bool
        Whether runs of an engine must have the period of a stream of inputs.

    Raises
    ------
    UsageError
        If the file holds something else than reports.
    """
    if not path.exists():
        return {}
    runs, _ = read_files([path])
    known = {(run["model"], run["config"]): run for run in runs}
    kept = {}
    for number, workload in enumerate(workloads):
        entry = known.get((workload.model, workload.config.name))
        has_stream = entry is not None and {"period", "copied_bytes"} <= entry.keys()
        if entry is None or (stream and workload.config.engine_macs and not has_stream):
            continue
        if _is_of_now(entry, workload):
            report = read_report(
                entry, workload.program, workload.config, predicted=predicted_layers(workload)
            )
            outcome = Outcome(b"", report, entry["simulation_hz"])
            kept[number] = MeasuredRun(
                outcome, entry["inputs"], entry["seconds"], entry.get("made", {})
            )
    return kept


def _is_of_now(entry: dict[str, Any], workload: Workload) -> bool:
    needed = {"inputs", "simulation_hz", "seconds", "bit_exact", "memory", "cycles_first"}
    if not needed <= entry.keys() or not entry["bit_exact"]:
        return False
    return bool(entry["inputs"] == run_fingerprint(workload.program))
