"""Resets while lists run, and writings that are cut: ``python -m tools.verification.resets``.

The simulated engine is reset in a cycle of a list of random jobs that is drawn at random: alone,
while DRAM owes it data, or with DRAM. A good list follows, which must give the right bytes. Besides
the power goes while an image is written to flash memory or to a card over another one, and the
loader starts anew. Counts are added to those of earlier runs.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiwicha.contract.configs import find_config
from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, run_rounds
from tests.gateware.engine.random_lists import Case
from tests.gateware.engine.test_engine import TIMINGS
from tests.support.gateware.dram_port import DramTiming
from tools.fuzz.loader import cut_writing
from tools.verification import record
from tools.verification.upsets import cases_of
from tools.verification.watched_engine import Cut, Watched, build, read_watched, write_cuts

__all__ = ["RECORD", "cut_lists", "main"]

RECORD = "resets"
CONFIG = "64"
_MOST_CYCLES = 15
"""Of a reset."""
_ANSWER_CYCLES = 200_000
_CUTS_AT_ONCE = 100_000


def cut_lists(
    program: Path,
    cases: list[tuple[Case, Case]],
    cuts: Sequence[Cut | None],
    timing: DramTiming,
    seed: int,
) -> tuple[list[Watched], int]:
    """Run lists, each cut and followed by a good one.

    Parameters
    ----------
    program : Path
        From `tools.verification.watched_engine.build`.
    cases : list of tuple of Case
        The lists, and the good one behind each.
    cuts : sequence of Cut or None
        Of each.
    timing : DramTiming
        How DRAM behaves.
    seed : int
        Of what is random there.

    Returns
    -------
    list of Watched
        What was measured of the lists that were to be cut.
    int
        How many of the good lists gave other bytes, or another answer.

    Raises
    ------
    SimulationError
        If the engine hangs or breaks a rule of its ports.
    """
    with tempfile.TemporaryDirectory(prefix="kiwicha-resets-") as name:
        folder = Path(name)
        write_cuts(folder, [entry for cut in cuts for entry in (cut, None)])
        outcomes = run_rounds(
            program,
            [case.given for pair in cases for case in pair],
            timing,
            seed=seed,
            host_stall=0.1,
            folder=folder,
            answer_cycles=_ANSWER_CYCLES,
        )
        measured = read_watched(folder)
    wrong = 0
    for pair, outcome in zip(cases, outcomes[1::2], strict=True):
        try:
            pair[1].check(outcome, "list behind a reset")
        except SimulationError:
            wrong += 1
    return measured[::2], wrong


def _draw(rng: random.Random, cycles: int) -> Cut:
    return Cut(rng.randrange(cycles), rng.randint(1, _MOST_CYCLES), is_alone=rng.random() < 0.5)


def _reset_engine(row: dict[str, Any], count: int, deadline: float) -> None:
    """Reset lists until there are enough, or time is up."""
    config = find_config(CONFIG)
    engine = Engine(macs=64, scratchpad_bytes=SCRATCHPAD_BYTES, has_softmax=config.has_softmax)
    program = build(engine, is_fast=True)
    while row["cut"] < count and time.monotonic() < deadline:
        seed = row["seeds"]
        row["seeds"] += 1
        rng = random.Random(seed)
        name, timing = rng.choice(sorted(TIMINGS.items()))
        cases = cases_of(seed)
        plain, _ = cut_lists(program, cases, [None] * len(cases), timing, seed)
        cuts = [_draw(rng, entry.cycles) for entry in plain]
        try:
            measured, wrong = cut_lists(program, cases, cuts, timing, seed)
        except SimulationError as error:
            row["failed"].append(f"seed {seed}, {name}: {error}")
            row["wrong"] += 1
            continue
        done = [(cut, entry) for cut, entry in zip(cuts, measured, strict=True) if entry.is_cut]
        row["cut"] += len(done)
        row["alone"] += sum(cut.is_alone for cut, _ in done)
        row["owed"] += sum(cut.is_alone and entry.owed > 0 for cut, entry in done)
        row["wrong"] += wrong
        record.say(f"{row['cut']} resets, {row['wrong']} lists behind them wrong")


def _cut_writings(rows: dict[str, Any], count: int) -> None:
    for kind in ("flash", "card"):
        row = rows.setdefault(kind, {"cut": 0, "refused": 0, "old": 0, "new": 0, "broken": 0})
        while row["cut"] < count:
            first = row["cut"]
            last = min(count, first + _CUTS_AT_ONCE)
            result = cut_writing(first, last, card=kind == "card")
            if result.executions == 0:
                row["broken"] += 1
                record.say(result.log)
                break
            row["cut"] += result.executions
            for name in ("refused", "old", "new"):
                row[name] += getattr(result, name)
        record.say(f"{kind}: {row}")


def main(arguments: list[str] | None = None) -> int:
    """Reset and cut until there are enough or time is up; return 1 if anything came out wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="resets of the engine, in all")
    parser.add_argument("--cuts", type=int, default=100_000, help="of each memory, in all")
    parser.add_argument("--minutes", type=float, default=20.0, help="for resets of the engine")
    options = parser.parse_args(arguments)
    found = record.read(Path(), RECORD) or {
        "config": CONFIG,
        "engine": {"seeds": 0, "cut": 0, "alone": 0, "owed": 0, "wrong": 0, "failed": []},
        "writings": {},
    }
    found["command"] = record.command()
    _cut_writings(found["writings"], options.cuts)
    record.write(RECORD, found)
    _reset_engine(found["engine"], options.count, time.monotonic() + 60 * options.minutes)
    record.write(RECORD, found)
    broken = sum(row["broken"] for row in found["writings"].values())
    return int(bool(broken or found["engine"]["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
