"""The section of the page on verification about faults in netlists."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools.documents.fault_records import Row, counted, fault_rows, results
from tools.documents.markdown import table
from tools.mutation.benches import BENCHES
from tools.verification.points import component_of

__all__ = ["netlist_faults_section"]

_RECORDS = "docs/results/verification/netlist_faults"
_ENGINE = "engine"
_TESTS = "tests/"
"""What faults are found by begins so, if it is not lists."""


def netlist_faults_section(project: Path) -> Iterator[str]:
    """Give the section, of what there are records.

    Parameters
    ----------
    project : Path
        Top folder of the project.
    """
    records = {path.stem: fault_rows(path) for path in sorted((project / _RECORDS).glob("*.jsonl"))}
    if not records:
        return
    yield from (
        "## What tests see of faults in netlists",
        "",
        "Yosys' `mutate` changes a bit at a port of a cell: it is inverted, or constant, or so",
        "whenever another bit is. Many faults are in one netlist, one of which at a time is",
        "active, so that one simulator serves them all. Faults that are proven to change nothing,",
        "for ever, are equivalent: side by side with and without the fault, no port of the",
        "component shows a difference, or none of what surrounds it, up to the whole netlist.",
        "ABC proves it, from first values of registers on, with any inputs, but that the engine's",
        "`rst` is low: the unit that it is in has no such reset. Memories and multipliers are cut",
        "out, and what goes into them is compared, but for what reaches no bit",
        "that is read. They, and faults of clocks, do not count.",
        "",
    )
    own = {name: rows for name, rows in records.items() if name in BENCHES}
    if own:
        yield from (
            "A component's own fast tests, in cocotb on Verilator; those of the serial line, of",
            "`Decompressor` and of `RawStreams` run at night, as by day larger designs have them:",
            "",
            *table(
                ("component", "tests", *_NUMBERS),
                (
                    (_name(name), f"`{BENCHES[name].tests[0]}`", *_numbers(rows))
                    for name, rows in own.items()
                ),
            ),
            *_command("benches", "benches --mode proofs"),
            *_survivors((_name(name), rows) for name, rows in own.items()),
        )
    if _ENGINE in records:
        components = defaultdict(list)
        for row in records[_ENGINE]:
            components[component_of(row["module"])].append(row)
        every = records[_ENGINE]
        yield from (
            "The engine of `64-softmax` as a whole, with the scratchpad that it has there, runs",
            "the lists of `tests/gateware/engine/list_batches.py`, as tests do by day or by",
            "night: of random jobs, with all behaviours of DRAM, anywhere in it; of single kinds",
            "of jobs; of bad descriptors and of addresses outside; of sums, scales and terms of",
            "which results show every bit; of transfers that begin and end anywhere; of as many",
            "jobs, groups and loops as there can be; with watchdogs of many lengths, and resets.",
            "Bytes and answers are those that are defined. Where nothing of DRAM is random,",
            "cycles, counters and ends of jobs are those that are recorded in `paces.json` beside",
            "it: so a fault that only changes a list's pace is seen as well.",
            "",
            "The rest of the suite tests parts of the engine: benches, Amaranth's simulations and",
            "proofs. What no list shows is tried with them: the part alone gets the fault at the",
            "cell that computes the same, found by what it is computed from. Such faults are",
            "counted in the last column: most are of what cannot happen in the engine, or takes",
            "longer than lists do, such as a count of a hundred million cycles.",
            "",
            *table(
                ("component", *_NUMBERS, "by tests of parts:"),
                (
                    *((f"`{name}`", *_of_engine(components[name])) for name in sorted(components)),
                    ("all", *_of_engine(every)),
                ),
            ),
            *_command("engine", "engine --mode proofs", "own_tests"),
            *_survivors((f"`{name}`", components[name]) for name in sorted(components)),
        )


_NUMBERS = ("tried:", "seen:", "equivalent:", "survived:", "share seen:")


def _name(component: str) -> str:
    part = BENCHES[component].part
    return f"`{component}`, its `{part}`" if part else f"`{component}`"


def _numbers(rows: Sequence[Row]) -> tuple[str, ...]:
    counts = results(rows)
    tried, seen = counted(counts)
    share = f"{100 * seen // tried}%" if tried else ""
    numbers = (tried, seen, counts["equivalent"], counts["survived"])
    return (*map(str, numbers), share)


def _of_engine(rows: Sequence[Row]) -> tuple[str, ...]:
    by_parts = sum(row.get("found_by", "").startswith(_TESTS) for row in rows)
    return (*_numbers(rows), str(by_parts))


def _command(*commands: str) -> Iterator[str]:
    lines = (f"python -m tools.mutation.{command}" for command in commands)
    yield from ("", "measured with", "", "```", *lines, "```", "")


def _survivors(groups: Iterable[tuple[str, Sequence[Row]]]) -> Iterator[str]:
    """Give the bits whose faults nothing has seen."""
    lines = []
    for name, rows in groups:
        left = [row for row in rows if row["result"] == "survived"]
        if left:
            bits = (f"`{_bit(row)}` {row['change']}" for row in left)
            lines.append(f"- {name}: {', '.join(bits)}")
    if lines:
        yield from ("Not seen:", "", *lines, "")


def _bit(row: Row) -> str:
    signal = row["signal"].replace("\\", "").replace("$", "")
    inside = ".".join(row["module"].split(".")[2:])
    return f"{inside}.{signal}" if inside else signal
