"""Sections of the page on verification about resets, cut writings, and long runs."""

from collections.abc import Iterator
from typing import Any

from tools.documents.markdown import table

__all__ = ["inferences", "long_lists", "resets"]

_PLACES = {"flash": "flash memory", "card": "a card"}


def resets(found: dict[str, Any]) -> Iterator[str]:
    """Give the section on resets and writings that are cut.

    Parameters
    ----------
    found : dict
        From `tools.verification.resets`.
    """
    engine = found["engine"]
    yield from (
        "## Resets, and power that goes",
        "",
        f"The engine of `{found['config']}` is reset in a cycle of a list of random jobs that is",
        "drawn at random, for 1 to 15 cycles, with every behaviour of DRAM that its tests know:",
        "alone, when DRAM still takes the command that waits, and what it owes comes late, with",
        "any bits, while the next list begins; or with DRAM. That list must give the right bytes.",
        "",
    )
    yield from table(
        ("resets:", "alone:", "of them while DRAM owed data:", "next list wrong:"),
        ((*(f"{engine[name]:,}" for name in ("cut", "alone", "owed", "wrong")),),),
    )
    yield from (
        "",
        "The power goes while an image is written over another one: anywhere in erasing sectors,",
        "all first or each before its pages, and in programming, with any bits in what was just",
        "being erased or programmed; or in writing blocks of a card. The loader then starts from",
        "there, by its own C code under sanitizers. It must find nothing to start, the old image",
        "or the new one, whole.",
        "",
    )
    yield from table(
        ("written to", "cuts:", "nothing to start:", "old image:", "new image:", "mixed:"),
        (
            (
                _PLACES[kind],
                *(f"{row[name]:,}" for name in ("cut", "refused", "old", "new", "broken")),
            )
            for kind, row in found["writings"].items()
        ),
    )
    yield from (
        "",
        "Resets while a Program is loaded over the serial line, and of a card while it is read,",
        "are tests of the simulated board: `tests/boards/link/test_simulated_faults.py` and",
        "`tests/boards/test_sdcard.py`.",
    )
    yield from _command(found["command"])


def long_lists(found: dict[str, Any]) -> Iterator[str]:
    """Give the section on lists that ran for long.

    Parameters
    ----------
    found : dict
        From `tools.verification.long_lists`.
    """
    drams = found["drams"]
    cycles = sum(row["cycles"] for row in drams.values())
    seconds = cycles / found["clock_hz"]
    share = seconds / (24 * 3600)
    yield from (
        "## Lists for long, and waits for the port",
        "",
        f"Lists of random jobs on the engine of `{found['config']}` alone, compared byte by byte.",
        "The master beside it takes half of the cycles at random, and everything stops for 43",
        f"cycles after every 300. All lists took {cycles:,} cycles: {seconds:.2f} s at",
        f"{found['clock_hz'] // 1_000_000} MHz, {share:.1e} of a day; they were simulated in",
        f"{found['seconds'] / 60:.0f} minutes.",
        "",
    )
    clients = list(next(iter(drams.values()))["waits"])
    yield from table(
        ("DRAM", "lists:", "jobs:", "cycles:", "differ:"),
        (
            (
                name,
                *(f"{row[key]:,}" for key in ("lists", "jobs", "cycles")),
                str(len(row["differ"])),
            )
            for name, row in drams.items()
        ),
    )
    yield from (
        "",
        "How long a client of the port waited at most, in cycles, and how many words others were",
        f"granted meanwhile. The design allows {found['bound_words']} words: one turn of each of",
        "the others. Cycles have no bound of its own: they are those words at DRAM's pace.",
        "",
    )
    yield from table(
        ("DRAM", *(f"{name}:" for name in clients)),
        (
            (name, *(f"{row['waits'][key][0]:,} ({row['waits'][key][1]})" for key in clients))
            for name, row in drams.items()
        ),
    )
    yield from _command(found["command"])


def inferences(found: dict[str, Any]) -> Iterator[str]:
    """Give the section on inferences of mixed models.

    Parameters
    ----------
    found : dict
        From `tools.verification.mixed_inferences`.
    """
    yield from (
        "## Inferences of mixed models",
        "",
        f"On the simulated system of `{found['config']}`, {found['pairs']:,} pairs of random small",
        "networks: one runs all the time, the other whenever a timer's interrupt asks for it, and",
        "makes the first one leave the engine. In half of the pairs the CPU reads and writes DRAM",
        "meanwhile, and checks that. Outputs of every inference are compared.",
        "",
    )
    names = ("inferences", "urgent", "suspensions", "cycles", "wrong", "noise_wrong")
    yield from table(
        (
            *("inferences:", "urgent:", "suspensions:", "cycles:"),
            *("wrong outputs:", "wrong words of the CPU:", "runs that failed:"),
        ),
        ((*(f"{found[name]:,}" for name in names), str(len(found["failed"]))),),
    )
    yield from ("", f"Longest wait of an urgent model: {found['longest_wait']:,} cycles.")
    yield from _command(found["command"])


def _command(name: str) -> Iterator[str]:
    yield from ("", "measured with", "", "```", name, "```", "")
