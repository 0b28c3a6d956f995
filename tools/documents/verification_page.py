"""The page on verification, from the proofs, the plan and what was measured."""

import ast
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools.documents.c_faults_section import c_faults_section
from tools.documents.fault_records import counted, results, source_rows
from tools.documents.markdown import folded, table
from tools.documents.netlist_faults_section import netlist_faults_section
from tools.documents.stages_section import stages
from tools.documents.verification_measures import measures
from tools.documents.verification_plan import FOUND, HOLES, PLAN
from tools.documents.verification_summary import summary
from tools.mutation.equivalents import EQUIVALENTS

__all__ = ["verification_page"]

_RECORDS = "docs/results/verification"
_MUTATION = f"{_RECORDS}/mutation"


def verification_page(project: Path) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    rows = source_rows(project)
    lines = [
        "# Verification",
        "",
        "Written by `python -m tools.documents` from the docstrings of the proofs and from what",
        "was measured. Everything here can be repeated with public packages.",
        "",
        *summary(project),
        "## What can go wrong, and what catches it",
        "",
        *table(("what", "caught by"), PLAN),
        "",
        "## Proofs",
        "",
        "Assertions about a component hold whatever its inputs are, if what is assumed holds. They",
        "are proven by induction, for all time, except where `test_holds_in_the_first_cycles`,",
        "`test_jobs_that_are_not_refused_are_sound` or",
        "`test_fetched_jobs_are_sound_in_the_first_cycles` prove the first cycles after a reset.",
        "That windows change between lists is proven of the unit for instructions, and that",
        "descriptors are sound, of their checks. Open holes, below, has what is not proven.",
        "",
        *table(("proof", "states", "assumes"), _proofs(project)),
        "",
        "## What tests see of faults",
        "",
        "Faults are put into a module, one at a time, and its own fast tests run. A fault is seen",
        "if a test fails or hangs. Those that cannot be imported do not count, nor those that are",
        "equivalent: the netlist is proven to be the same, or they are listed below with the",
        "reason, and no test saw them either. Of a module that has more faults than were tried,",
        "they were drawn with a fixed seed.",
        "",
        *table(
            ("module", "tried:", "seen:", "equivalent:", "survived:", "share seen:"),
            (_score_row(name, results(found)) for name, found in rows.items()),
        ),
        "",
        "measured with",
        "",
        "```",
        "nox -s mutation",
        "```",
        "",
        *_survivors(project),
        "",
        *folded(f"{len(EQUIVALENTS)} faults that change nothing, and why", _equivalents()),
        *netlist_faults_section(project),
        *c_faults_section(project),
        *_fuzzing(project),
        *measures(project),
        *stages(project),
        "## Faults found",
        "",
        *table(("fault", "mended by the commit"), FOUND),
        "",
        "## Open holes",
        "",
        *(f"- {text}" for text in HOLES),
    ]
    return "\n".join(lines) + "\n"


def _proofs(project: Path) -> Iterator[tuple[str, str, str]]:
    """Give the name, the statement and the assumptions of each proof."""
    for path in sorted((project / "tests").rglob("proof_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
                continue
            text = (ast.get_docstring(node) or "").partition("\nParameters\n")[0]
            states, _, assumes = " ".join(text.split()).partition("Assumed: ")
            states = states.removeprefix("State ").removeprefix("that ").strip().replace("``", "`")
            yield f"`{node.name}`", states, assumes.strip().replace("``", "`") or "nothing"


def _score_row(name: str, counts: Mapping[str, int]) -> Iterable[str]:
    tried, seen = counted(counts)
    share = f"{seen / tried:.0%}" if tried else ""
    numbers = (tried, seen, counts.get("equivalent", 0), counts.get("survived", 0))
    return (f"`{name}`", *map(str, numbers), share)


def _survivors(project: Path) -> Iterator[str]:
    """Give the faults that no test saw."""
    found = [
        f"- `{name}`, line {row['line']}: {_code(row['change'])}"
        for name, rows in source_rows(project).items()
        for row in rows
        if row["result"] == "survived"
    ]
    yield "Not seen:" if found else "All faults that were tried and that change anything were seen."
    if found:
        yield ""
        yield from found


def _equivalents() -> Iterator[str]:
    """Give the faults that change nothing."""
    for item in EQUIVALENTS:
        yield f"- `{item.module}`, in {_code(item.text)}: {_code(item.change)}: {item.reason}."


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def _fuzzing(project: Path) -> Iterator[str]:
    """Give the section on hostile input, if there are records."""
    path = project / _RECORDS / "fuzz.json"
    if not path.exists():
        return
    records = json.loads(path.read_text(encoding="utf-8"))
    names = ("executions", "crashes", "hangs")
    sums = {name: sum(row[name] for row in records) for name in names}
    yield "## Hostile input"
    yield ""
    yield "Every input is refused with a message, or harmless; anything else counts as a crash."
    yield ""
    yield from table(
        ("input", "executions:", "crashes:", "over 5 s:"),
        (
            (row["input"], f"{row['executions']:,}", str(row["crashes"]), str(row["hangs"]))
            for row in [*records, {"input": "all", **sums}]
        ),
    )
    yield ""
    yield "measured with"
    yield ""
    yield "```"
    yield "nox -s fuzz"
    yield "```"
    yield ""
