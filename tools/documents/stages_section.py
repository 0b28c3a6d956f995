"""The section of the page on verification about stages: where each component stands."""

import functools
import importlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kiwicha.contract.configs import find_config
from kiwicha.gateware.engine.engine import Engine
from tools.documents.fault_records import counted, fault_rows, results, source_rows
from tools.documents.markdown import table
from tools.documents.netlist_sections import is_equal
from tools.mutation.__main__ import source_of
from tools.mutation.benches import BENCHES
from tools.mutation.operators import mutants
from tools.mutation.targets import TARGETS
from tools.verification import record
from tools.verification.component_classes import component_classes
from tools.verification.components import COMPONENTS

__all__ = ["stages"]

_ENOUGH, _MANY = 10, 50
"""Faults, for V2 and V3."""
_GOOD, _HIGH = 90, 98
"""Percent of them that are seen."""
_PACKAGE = "kiwicha.gateware."
_GATEWARE = "gateware."
_RECORDS = Path("docs/results/verification")
_ENGINE = "engine"
_CONFIG = "64-softmax"
"""Of the engine that lists look for faults in."""


@dataclass
class _Standing:
    """What is known of a component.

    Parameters
    ----------
    own, whole : Counter
        Results of faults: those in it alone, for its own tests; those in the engine, for all.
    netlists : str
        Whether they are proven to be equal to the source.
    """

    own: Counter[str] = field(default_factory=Counter)
    whole: Counter[str] = field(default_factory=Counter)
    netlists: str = ""


def stages(project: Path) -> Iterator[str]:
    """Give the section.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    yield from (
        "## Stages",
        "",
        "V1: tests run it; too few faults were tried, or seen, to say more.",
        f"V2: at least {_ENOUGH} faults were tried, and {_GOOD}% of those that count were seen.",
        f"V3: of a component, {_MANY} or more were tried, {_HIGH}% were seen, and its netlists are",
        f"proven equal for all families of boards; of a module, {_MANY} or more were tried, or all",
        "that there are, and all were seen.",
        "",
        "Components, with all that is in them. Faults are those in their sources and netlists that",
        "their own tests look for, and those in the engine's netlist that all tests look for:",
        "",
        *table(
            ("component", "own tests see", "all tests see", "netlists", "stage"),
            (
                (
                    f"`{name}`",
                    _share(standing.own),
                    _share(standing.whole),
                    standing.netlists,
                    _stage_of_component(standing),
                )
                for name, standing in sorted(_standings(project).items())
            ),
        ),
        "",
        "Modules in Python:",
        "",
        *table(
            ("module", "own tests see", "stage"),
            (
                (f"`{name}`", _share(counts), _stage_of_module(name, counts))
                for name, counts in _source_results(project).items()
                if not name.startswith(_GATEWARE)
            ),
        ),
        "",
    )


def _share(counts: Mapping[str, int]) -> str:
    tried, seen = counted(counts)
    return f"{seen} of {tried}" if tried else ""


def _stage_of_component(standing: _Standing) -> str:
    tried, seen = counted(standing.own + standing.whole)
    if tried < _ENOUGH or 100 * seen < _GOOD * tried:
        return "V1"
    is_high = tried >= _MANY and 100 * seen >= _HIGH * tried
    return "V3" if is_high and standing.netlists == "proven" else "V2"


def _stage_of_module(name: str, counts: Mapping[str, int]) -> str:
    tried, seen = counted(counts)
    if tried < _ENOUGH or 100 * seen < _GOOD * tried:
        return "V1"
    target = TARGETS.get(name)
    is_every = target is not None and sum(counts.values()) >= len(mutants(source_of(target)))
    return "V3" if seen == tried and (tried >= _MANY or is_every) else "V2"


def _source_results(project: Path) -> dict[str, Counter[str]]:
    return {name: results(rows) for name, rows in source_rows(project).items()}


def _standings(project: Path) -> dict[str, _Standing]:
    """Return what is known of each component, by the name of its module."""
    found: defaultdict[str, _Standing] = defaultdict(_Standing)
    modules = _modules()
    for name, netlists in _netlists(project).items():
        found[f"{_GATEWARE}{name}"].netlists = netlists
    for name, counts in _source_results(project).items():
        if name.startswith(_GATEWARE):
            found[name].own.update(counts)
    for component, bench in BENCHES.items():
        own = modules.get(bench.component, "")
        for row in fault_rows(project / _RECORDS / "netlist_faults" / f"{component}.jsonl"):
            places = _enclosing(row["module"]) if bench.part else {modules.get(component, own)}
            for name in places - {""}:
                found[name].own[row["result"]] += 1
    for row in fault_rows(project / _RECORDS / "netlist_faults" / f"{_ENGINE}.jsonl"):
        for name in _enclosing(row["module"]):
            found[name].whole[row["result"]] += 1
    return found


@functools.cache
def _engine_classes() -> Mapping[str, type]:
    config = find_config(_CONFIG)
    size, has_softmax = config.scratchpad_bytes, config.has_softmax
    engine = Engine(macs=config.engine_macs, scratchpad_bytes=size, has_softmax=has_softmax)
    return component_classes(engine)


def _name(kind: type) -> str:
    """Return the name of a component's module; empty if it is not one of ours."""
    module = kind.__module__
    return f"{_GATEWARE}{module.removeprefix(_PACKAGE)}" if module.startswith(_PACKAGE) else ""


def _enclosing(path: str) -> set[str]:
    """Return the modules of the components of the engine that a place in it lies in."""
    parts = path.split(".") if path else []
    places = [".".join(parts[:count]) for count in range(len(parts) + 1)]
    classes = _engine_classes()
    return {_name(classes[place]) for place in places if place in classes} - {""}


def _modules() -> dict[str, str]:
    """Return the module of each component by the name of its class, with its package or without."""
    found = {kind.__name__: _name(kind) for kind in _engine_classes().values()}
    for name in COMPONENTS:
        package = name.rpartition(".")[0]
        for kind in importlib.import_module(f"{_PACKAGE}{name}").__all__:
            found[kind] = found[f"{package}.{kind}"] = f"{_GATEWARE}{name}"
    return found


def _netlists(project: Path) -> dict[str, str]:
    """Return of each component whose netlists are compared what came of it."""
    rows = record.read(project, "equivalence") or []
    proven: dict[str, list[bool]] = {name: [] for name in COMPONENTS}
    for row in rows:
        proven.setdefault(row["component"], []).append(is_equal(row))
    words = {True: "proven", False: "not proven"}
    return {
        name: words[all(results)] if results else "not tried" for name, results in proven.items()
    }
