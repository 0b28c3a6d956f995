"""Our cycles beside Vela's estimates for an Ethos-U55: the page, and a table of public models."""

from typing import Any

from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.run_files import Run, cpu_share, runs_of
from tools.results.kinds import bench_command
from tools.results.planned import PUBLIC, STREAMING, UINT8

__all__ = ["peer_table", "vela_page"]


def vela_page(files: dict[str, Any], freshness: Freshness) -> str:
    """Return the page that sets our measurements beside Vela's estimates.

    Parameters
    ----------
    files : dict
        Contents of the JSON files by their path in the project.
    freshness : callable
        Says whether files are of the present hardware.
    """
    parts = [
        "# Beside Arm's Ethos-U55",
        "",
        "Written by `python -m tools.documents` from the results below: cycles that we measured",
        "on the simulated system, DRAM and CPU included, and what Arm's compiler Vela estimates",
        "for the Ethos-U55 with as many multipliers and the same model file, all data in SRAM. The",
        "ratio is Vela's estimate divided by our measurement. Neither number says anything about",
        "clock frequencies: an Ethos-U55 is made in silicon, and this is for FPGAs.",
    ]
    columns = ("model", "config", "cycles:", "accelerator", "Vela's estimate:", "ratio:")
    for name, all_runs in runs_of(files):
        runs = [run for run in all_runs if "vela" in run]
        if not runs:
            continue
        rows = [
            (
                run["model"],
                run["config"],
                f"{run['cycles']:,}",
                run["vela"]["accelerator"],
                f"{run['vela']['cycles']:,}",
                f"{run['vela']['cycles'] / run['cycles']:.2f}",
            )
            for run in runs
        ]
        versions = ", ".join(sorted({run["vela"]["version"] for run in runs}))
        command = f"`{bench_command(name, all_runs)}`, Vela {versions}"
        parts += ["", *table(columns, rows), "", command, "", freshness([name])]
    return "\n".join(parts) + "\n"


_PEER_COLUMNS = ("model", "64:", "128:", "ethos-u55-64 by Vela:", "ratio:", "CPU:")
_PEER_FILES = (PUBLIC, STREAMING, UINT8)


def peer_table(files: dict[str, Any]) -> list[str]:
    """Return the lines of a table: cycles of both engines, and the estimate for 64 multipliers.

    Vela leaves some operators to a CPU, and does not count them; we count all.

    Parameters
    ----------
    files : dict
        Contents of the JSON files by their path in the project.
    """
    found = dict(runs_of(files))
    runs = [run for name in _PEER_FILES for run in found.get(name, [])]
    return table(_PEER_COLUMNS, _peer_rows(runs))


def _peer_rows(runs: list[Run]) -> list[tuple[str, ...]]:
    rows = []
    for model in dict.fromkeys(run["model"] for run in runs):
        of = {run["config"]: run for run in runs if run["model"] == model}
        measured = [f"{of[name]['cycles']:,}" if name in of else "" for name in ("64", "128")]
        peer = of["64"]["vela"]["cycles"] if "64" in of else 0
        shown = [f"{peer:,}", f"{peer / of['64']['cycles']:.2f}"] if peer else ["", ""]
        rows.append((model, *measured, *shown, cpu_share(of["64"]) if "64" in of else ""))
    return rows
