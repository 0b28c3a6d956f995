"""Sections of the page on verification about what was simulated, covered and compared."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.documents import verification_loads
from tools.documents.c_coverage_reasons import explained_lines
from tools.documents.coverage_reasons import explained
from tools.documents.markdown import measured_with, table
from tools.documents.netlist_sections import equivalence, replay
from tools.documents.python_coverage_reasons import reason_of
from tools.verification import record

__all__ = ["measures"]


def measures(project: Path) -> Iterator[str]:
    """Give the sections of which there are records.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    sections = (
        ("jobs", _jobs),
        ("coverage", _coverage),
        ("python_coverage", _python_coverage),
        ("c_coverage", _c_coverage),
        ("equivalence", equivalence),
        ("replay", replay),
        ("upsets", _upsets),
        ("resets", verification_loads.resets),
        ("long_lists", verification_loads.long_lists),
        ("mixed_inferences", verification_loads.inferences),
    )
    for name, section in sections:
        found = record.read(project, name)
        if found is not None:
            yield from section(found)


def _share(part: int, whole: int) -> str:
    """Return a share, rounded down: 100% is all."""
    return f"{1000 * part // whole / 10:.1f}%" if whole else ""


def _jobs(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield from (
        "## Job by job",
        "",
        "`kiwicha run --check-jobs` compares what every job and every transfer of the simulated",
        "engine writes with the reference executor: bytes of the scratchpad when the engine",
        "counts the job as complete, words of the arena as DRAM takes them. The first difference",
        "is named: inference, step, job, layer, byte, values and cycle. What the CPU writes is",
        "compared where the engine loads it, and where it is an output.",
        "",
    )
    yield from table(
        ("model", "config", "lists:", "jobs:", "transfers:", "bytes:", "differ"),
        (
            (
                f"`{row['model']}`",
                f"`{row['config']}`",
                *(f"{row[name]:,}" for name in ("lists", "jobs", "transfers", "bytes")),
                row["difference"] or "none",
            )
            for row in rows
        ),
    )
    models: dict[str, list[str]] = {}
    for row in rows:
        models.setdefault(row["config"], []).append(row["model"])
    yield from measured_with(
        *(
            f"python -m tools.verification.jobs {' '.join(names)} --config {config}"
            for config, names in models.items()
        )
    )


def _coverage(found: dict[str, Any]) -> Iterator[str]:
    timings = ", ".join(found["timings"])
    yield from (
        "## Coverage of the engine",
        "",
        f"Of `{found['config']}`, by {found['lists']:,} lists of {found['jobs']:,} random jobs on",
        f"the engine alone, with DRAM that is {timings}; by the benches of",
        f"components by day, of {found['designs']} designs; and by models on the simulated system:",
        f"{', '.join(found['models'])}. Lines and branches are those of the Verilog; toggles are",
        "of each bit of signals that have a name in the sources, up and down. What a bench meets",
        "counts for each component of the class that it simulates; lines and branches do only if",
        "it is the same code there, as with other parameters it need not be.",
        "",
    )
    kinds, names = ("line", "branch", "toggle"), ("lines", "branches", "toggles")
    sums = {
        kind: [sum(row[kind][k] for row in found["components"]) for k in range(2)] for kind in kinds
    }
    rows = [*found["components"], {"component": "all", **sums}]
    yield from table(
        ("component", *(f"{text}:" for name in names for text in (name, "met"))),
        (
            (
                f"`{row['component']}`" if row["component"] != "all" else "all",
                *(
                    text
                    for kind in kinds
                    for text in (f"{row[kind][0]:,}", _share(row[kind][1], row[kind][0]))
                ),
            )
            for row in rows
        ),
    )
    yield from ("", *_met_by(found["met_by"], sums))
    functional = found["functional"]
    yield from (
        "",
        f"Functional coverage: {functional['covered']:,} of {functional['planned']:,} points,",
        "which are kinds of jobs with each flag, shape, way to wait and behaviour of DRAM, pairs",
        "of kinds that follow each other, kinds of transfers, and errors. The plan is what the",
        "generator of lists can draw.",
    )
    if functional["missing"]:
        missing = ", ".join(functional["missing"])
        yield from ("", f"Points of the plan that were not met: {missing}.")
    holes = found["holes"]
    if holes:
        reasons, left = explained(holes)
        yield from ("", "Lines and branches that were not met, and why:", "")
        yield from (f"- {count}: {reason}." for reason, count in reasons.items())
        if left:
            yield from ("", "And without a reason that is known:", "")
            yield from _by_module(left)
    yield from measured_with(found["command"])


def _met_by(parts: Mapping[str, Mapping[str, int]], sums: Mapping[str, Sequence[int]]) -> list[str]:
    """Return what each part meets alone."""
    shares = (
        f"{name} {' / '.join(_share(met[kind], sums[kind][0]) for kind in sums)}"
        for name, met in parts.items()
    )
    return [f"Alone they meet, of lines / branches / toggles: {'; '.join(shares)}."]


def _by_module(holes: dict[str, int]) -> Iterator[str]:
    """Give holes of each module in a line."""
    found: dict[str, list[str]] = {}
    for hole, count in holes.items():
        module, _, text = hole.partition(": ")
        times = f" {count} times" if count > 1 else ""
        found.setdefault(module, []).append(f"`{text.replace('`', chr(39))}`{times}")
    for module, texts in found.items():
        yield f"- `{module or 'engine'}`: {', '.join(texts)}"


def _python_coverage(found: dict[str, Any]) -> Iterator[str]:
    tests = " and ".join(f"{run['tests']:,}" for run in found["runs"])
    yield from (
        "## Coverage of Python",
        "",
        f"Lines and branches that quick tests of these packages meet, in runs of {tests} tests.",
        "",
    )
    yield from _met("package", found["packages"], "")
    yield from ("", "Modules with most lines that were not met, and where they are tested:", "")
    reasons: dict[str, list[str]] = {}
    for row in found["holes"]:
        lines = f" ({row['lines']})" if row["lines"] else ""
        reasons.setdefault(reason_of(row["module"]), []).append(
            f"`{row['module']}` {row['missing']}{lines}"
        )
    yield from (f"- {reason}: {'; '.join(texts)}." for reason, texts in reasons.items())
    yield from measured_with(*(run["command"] for run in found["runs"]))


def _met(what: str, rows: Sequence[dict[str, Any]], folder: str) -> Iterator[str]:
    """Give a table of lines and branches that were met of packages or folders."""
    yield from table(
        (what, "lines:", "met:", "branches:", "met:"),
        (
            (
                f"`{folder}{row[what]}`",
                f"{row['lines']:,}",
                _share(row["lines_met"], row["lines"]),
                f"{row['branches']:,}",
                _share(row["branches_met"], row["branches"]),
            )
            for row in rows
        ),
    )


def _c_coverage(found: dict[str, Any]) -> Iterator[str]:
    models = ", ".join(f"`{name}`" for name in found["models"])
    configs = ", ".join(f"`{name}`" for name in found["configs"])
    yield from (
        "## Coverage of C",
        "",
        f"By {found['programs']:,} Programs on the host, of {configs}: random steps, one step of",
        f"each of the {found['kernels']} kernels, models of one operator, models that keep",
        f"something, and {models}; and by {found['refused']:,} that are refused for their",
        "parameters. Branches are those of GCC, both ways.",
        "",
    )
    yield from _met("folder", found["folders"], "firmware/")
    reasons, left = explained_lines(found["holes"])
    yield from ("", "Lines that were not met, and why:", "")
    yield from (f"- {count}: {reason}." for reason, count in reasons.most_common())
    if left:
        yield from ("", "And without a reason that is known:", "")
        files: dict[str, list[str]] = {}
        for hole in left:
            text = hole["text"].replace("`", "'")
            files.setdefault(hole["file"], []).append(f"{hole['line']} `{text}`")
        yield from (f"- `firmware/{name}`: {', '.join(lines)}" for name, lines in files.items())
    yield from measured_with(found["command"])


def _upsets(found: dict[str, Any]) -> Iterator[str]:
    least, most = found["cycles"]
    yield from (
        "## Upsets while lists run",
        "",
        f"One bit of the engine of `{found['config']}` (scratchpad: {found['scratchpad_bytes']:,}",
        f"bytes) flips in a cycle of one of {found['lists']} lists of random jobs, which take",
        f"{least:,} to {most:,} cycles. Bit and cycle are drawn at random, among all bits of a",
        "group alike. Another list follows, which must give the right bytes.",
        "",
    )
    groups = found["groups"]
    results = list(next(iter(groups.values()))["results"])
    yield from table(
        ("bits of", "number:", "upsets:", *(f"{name}:" for name in results), "next list wrong:"),
        (
            (
                name,
                f"{group['bits']:,}",
                f"{group['trials']:,}",
                *(_counted(group["results"][result], group["trials"]) for result in results),
                _counted(group["unusable"], group["trials"]),
            )
            for name, group in groups.items()
        ),
    )
    yield from (
        "",
        "Errors are those that the engine reports, with the watchdog at four times what the list",
        "takes. Where upsets gave wrong bytes, no answer, or broke a rule of the port:",
        "",
    )
    for name, group in groups.items():
        where = ", ".join(f"`{module}` {count}" for module, count in group["silent_in"].items())
        if where:
            yield f"- {name}: {where}"
    yield from measured_with(found["command"])


def _counted(count: int, trials: int) -> str:
    return f"{count:,} ({100 * count / trials:.1f}%)" if trials else ""
