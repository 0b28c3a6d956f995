"""Tables of the page on energy: what events cost, and what inferences take."""

from collections.abc import Mapping
from typing import Any

from kiwicha.errors import UsageError
from kiwicha.mlperf.benchmarks import BENCHMARKS
from tools.documents.freshness import Freshness
from tools.documents.markdown import table
from tools.documents.result_files import results_of
from tools.results.kinds import energy_command

__all__ = ["energy_section"]

Files = Mapping[str, Any]

_COMMAND = "kiwicha energy"
_NAMES = {benchmark.model: benchmark.name for benchmark in BENCHMARKS}
_ORDER = list(_NAMES)


def energy_section(files: Files, areas: Files, freshness: Freshness) -> str:
    """Return what events cost, and the energy and the counts of each model.

    Parameters
    ----------
    files : mapping
        What ``kiwicha energy --json`` wrote, by path in the project.
    areas : mapping
        What ``kiwicha area --json`` wrote.
    freshness : callable
        Says whether files are of the present hardware.

    Raises
    ------
    UsageError
        If files are of something else, or events cost something else in some of them.
    """
    if not files:
        return ""
    ordered = dict(sorted(files.items(), key=_place))
    costs: dict[str, tuple[Any, Any]] = {}
    rows, counts = [], []
    for name, outcome in ordered.items():
        with results_of(_COMMAND, name):
            events = outcome["events"]
            own = {event: (one["picojoules"], one["source"]) for event, one in events.items()}
            if own != (costs := costs or own):
                raise UsageError(f"energies of events must be those of the other files ({name})")
            rows.append((*_words(outcome), *_energies(outcome)))
            counts.append((*_words(outcome), *(f"{one['count']:,}" for one in events.values())))
    events = [f"`{event}`:" for event in costs]
    first = next(iter(ordered.values()))
    lines = [
        *table(
            ("event", "published, scaled", "pJ:"),
            ((f"`{event}`", source, f"{cost:.2g}") for event, (cost, source) in costs.items()),
        ),
        "",
        "## What it gives",
        "",
        "MLPerf Tiny's models, random inputs, in uJ:",
        "",
        *table(("model", "config", "cycles:", *events, "about:", "mean power:"), rows),
        "",
        f"Each is {first['note']}. Counted:",
        "",
        *table(("model", "config", *events), counts),
        "",
        *_netlists(ordered, areas),
        "measured with",
        "",
        "```",
        *(energy_command(name, outcome) for name, outcome in ordered.items()),
        "```",
        "",
    ]
    return "\n".join([*lines, freshness(ordered)])


def _place(item: tuple[str, Any]) -> tuple[int, str]:
    name, outcome = item
    with results_of(_COMMAND, name):
        model = outcome["model"]
    return _ORDER.index(model) if model in _NAMES else len(_ORDER), name


def _words(outcome: Mapping[str, Any]) -> tuple[str, str]:
    model = outcome["model"]
    name = _NAMES.get(model, model)
    return (name if name == model else f"{name} (`{model}`)"), f"`{outcome['config']}`"


def _energies(outcome: Mapping[str, Any]) -> tuple[str, ...]:
    parts = [1e-6 * one["count"] * one["picojoules"] for one in outcome["events"].values()]
    whole = outcome["estimated_dynamic_microjoules"]
    milliwatts = 1e-3 * whole * outcome["clock_hz"] / outcome["cycles"]
    cells = [f"{part:,.1f}" for part in parts]
    return f"{outcome['cycles']:,}", *cells, f"{whole:,.0f}", f"{milliwatts:,.0f} mW"


def _netlists(files: Files, areas: Files) -> list[str]:
    """Say how many flip-flops are counted, and how many synthesis leaves."""
    left = {area["config"]: area["resources"].get("FF") for area in areas.values()}
    counted = {one["config"]: one["driven_bits"]["flip-flops"] for one in files.values()}
    lines = []
    for config, bits in counted.items():
        if left.get(config) is not None:
            counts = f"{bits:,} bits of flip-flops here, of which synthesis leaves {left[config]:,}"
            lines += [f"`{config}` has {counts}: see [what is left out](#what-is-left-out).", ""]
    return lines
