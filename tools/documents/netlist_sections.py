"""Sections of the page on verification about netlists for boards."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tools.documents.markdown import measured_with, table
from tools.verification.netlists import Means

__all__ = ["equivalence", "is_equal", "replay"]

_KINDS = {"$mem_v2": ("memory", "memories"), "$mul": ("multiplier", "multipliers")}

_STARTS = {True: "proven", False: "other first values", None: "first values without an answer"}

_FIRST_ASIDE = "proven, first values aside"
_EARLIER = (
    f"`{_FIRST_ASIDE}` is of an earlier proof, by names and without first values. Where an output",
    "has a net of the netlist together with a register, it took the output for this register.",
    "The command below repeats it.",
    "",
)


def equivalence(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Give the section on components that are proven equal to their netlists.

    Parameters
    ----------
    rows : sequence of dict
        The record of `tools.verification.equivalence`.
    """
    results = Counter(_result(row) for row in rows)
    yield from (
        "## Netlists beside sources",
        "",
        "A component is synthesized for a family of boards, and Yosys proves that each register",
        "and each output always has the value that it has in the source: in the first cycle, with",
        "the first values that the vendor's registers are given, and in the next one if in the one",
        "before. The vendor's cells are as Yosys models them. Memories and multipliers are cut out",
        "on both sides: what goes into them is compared, and what comes out of them is taken to be",
        "the same.",
        "",
        "First Yosys tries an induction. Where it has no answer in time, or bits are left, ABC is",
        "asked for the `next states`: registers that are to be the same are one variable, and what",
        "they become and outputs must be the same functions of these variables and of inputs, all",
        "in one netlist without registers that can never show a difference. First values are",
        "compared as well. Bits without a value are free there, in source and netlist each on its",
        "own, so that what depends on one is not proven.",
        "",
        f"Of {len(rows)} netlists of {len({row['component'] for row in rows})} components:",
        f"{', '.join(f'{count} {text}' for text, count in results.most_common())}.",
        f"Reach: the solver got {_limit(rows):.0f} s for each at least, synthesis aside.",
        "Components that mostly connect others, such as the engine as a whole, are left to their",
        "parts and to the replays below; so is what is not proven.",
        "",
        *_correspondence(rows),
        *(_EARLIER if any(_result(row) == _FIRST_ASIDE for row in rows) else ()),
    )
    yield from table(
        ("component", "family", "bits:", "not proven:", "cut out", "result", "by"),
        ((f"`{row['component']}`", row["family"], *_bits(row)) for row in rows),
    )
    unproven = [row for row in rows if row.get("names")]
    if unproven:
        yield from ("", "Bits that are not proven, the first of each:", "")
        for row in unproven:
            names = ", ".join(f"`{name}`" for name in row["names"])
            yield f"- `{row['component']}` on {row['family']}: {names}"
    short = [f"`{row['component']}` on {row['family']}" for row in rows if row.get("is_short")]
    if short:
        yield from (
            "",
            "Mapped without the last step of the mapper's script, which ends with an error there:",
            f"{', '.join(short)}.",
        )
    yield from measured_with("nox -s equivalence")


def is_equal(row: Mapping[str, Any]) -> bool:
    """Return whether a netlist is proven equal to its source, first values of registers included.

    Parameters
    ----------
    row : mapping
        Of the record of `tools.verification.equivalence`.
    """
    return bool(row.get("is_proven") and row.get("starts"))


def _correspondence(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Give how registers of netlists were found, where their names do not tell."""
    held, absent, shifted, merged = (
        sum(row.get(name, 0) for row in rows) for name in ("held", "absent", "shifted", "merged")
    )
    yield from (
        "Registers of one name are taken for the same, and proven to be. Where names do not tell:",
        "",
        f"- {shifted:,} bits are within shift registers of the vendor's, by what they shift, and",
        f"  {merged:,} are one with others in the netlist, as they start alike and are computed",
        "  alike. They are proven to be the same like all others.",
        f"- {held:,} bits keep their first value, as nothing but this value is ever given to them",
        "  in the source, and are constants in the netlist. They are taken for constants, which is",
        "  proven by next states, too.",
        f"- {absent:,} bits are not in the netlist, as nothing needs them. They are not compared;",
        "  the rest is proven without them; by next states some are proven to be constants.",
        "",
    )


def _limit(rows: Sequence[dict[str, Any]]) -> float:
    return float(min(row["given_seconds"] for row in rows if "given_seconds" in row))


def _result(row: dict[str, Any]) -> str:
    if "failed" in row:
        return "Yosys failed"
    if row["limit_seconds"]:
        return f"no answer in {row['limit_seconds']:.0f} s"
    if row["unproven"]:
        return "not proven"
    return _STARTS[row["starts"]] if "starts" in row else _FIRST_ASIDE


def _bits(row: dict[str, Any]) -> tuple[str, ...]:
    if "failed" in row:
        return "", "", "", _result(row), ""
    cut = ", ".join(f"{count} {_KINDS[kind][count > 1]}" for kind, count in row["cut"].items())
    if row["limit_seconds"]:
        return "", "", cut, _result(row), ""
    bits = f"{row['proven'] + row['unproven']:,}"
    # Records of before there was a second means have none.
    means = row.get("means", Means.INDUCTION)
    return bits, f"{row['unproven']:,}", cut, _result(row), means


def replay(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Give the section on netlists of the whole engine, simulated beside the source.

    Parameters
    ----------
    rows : sequence of dict
        The record of `tools.verification.replay`.
    """
    yield from (
        "## Netlists replayed",
        "",
        "The engine is synthesized as for a board, with the vendor's multipliers and memories, and",
        "simulated beside its source: same inputs, all outputs compared in every cycle. What lists",
        "of random jobs leave is checked against what they are defined to do, too. Lists of models",
        "run on random bytes. Cells are those of Yosys' models; block RAM and ECP5's multiplier",
        "have models of ours, which are checked against plain memories and products. What these",
        "memories give where one port reads what the other one writes, if the vendor does not say",
        "it, is random.",
        "",
        "Each list runs again from random starts: all registers and all memories that are written",
        "have random values, in netlist and source different ones, before the first reset; what",
        "tells a DSP48E1 what to do, set anew in each cycle, has not. Then",
        "`valid`, `ready` and what is valid must be the same in each cycle from the reset on: so",
        "nothing that was never written reaches an output.",
        "",
    )
    yield from table(
        (
            *("config", "family", "cells:", "lists", "DRAM", "random starts:"),
            *("run:", "jobs:", "cycles:", "differ"),
        ),
        (
            (
                f"`{row['config']}`",
                row["family"],
                f"{row['cells']:,}",
                "random" if row["what"] == "random" else f"`{row['what']}`",
                ", ".join(row["timings"]),
                str(row["starts"]),
                *(f"{row[name]:,}" for name in ("lists", "jobs", "cycles")),
                row["difference"] or "none",
            )
            for row in rows
        ),
    )
    yield from measured_with(*dict.fromkeys(row["command"] for row in rows))
