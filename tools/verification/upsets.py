"""Upsets while lists run: ``python -m tools.verification.upsets`` flips bits and counts results.

A bit of a register or memory of the engine is flipped in a cycle of a list of random jobs, both
drawn at random. A good list follows in each run, to see whether the engine can still be used.
"""

import argparse
import dataclasses
import enum
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineError, job_kinds
from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES, Outcome, run_rounds
from tests.gateware.engine.random_lists import Case, random_case
from tests.support.gateware.dram_port import DramTiming
from tools.verification import record
from tools.verification.upset_engine import CYCLES_FILE, Place, Upset, UpsetEngine, build

__all__ = [
    "GROUPS",
    "NO_UPSET",
    "RECORD",
    "Result",
    "Trial",
    "cases_of",
    "classify",
    "group_of",
    "main",
    "run_lists",
    "run_trial",
]

RECORD = "upsets"
CONFIG = "64"
LISTS, JOBS, DATA_BYTES = 12, 4, 4096
DDR3 = DramTiming(latency_cycles=16, refresh_every_cycles=780, refresh_cycles=40)
GROUPS = ("registers", "scratchpad", "weight buffer", "other memories")
_WEIGHTS = "datapath.weights"
_PATIENCE = 4
"""How many times as long as it usually takes a list may run, before the watchdog stops it."""
_HANGS = re.compile(r"must be answered")


NO_UPSET = Upset(-1, 0, 0, 0)
"""There is no place of this number."""


class Result(enum.StrEnum):
    """What came of an upset."""

    RIGHT = "right bytes"
    REPORTED = "reported error"
    WRONG = "wrong bytes"
    HANGS = "no answer"
    BREAKS_PORT = "breaks a rule of the port"


@dataclasses.dataclass(frozen=True)
class Trial:
    """An upset, what came of the list, and of the good list behind it."""

    place: Place
    upset: Upset
    result: Result
    is_usable: bool


def group_of(place: Place) -> str:
    """Return which of `GROUPS` a place belongs to."""
    if not place.words:
        return GROUPS[0]
    if place.module == "datapath.scratchpad":
        return GROUPS[1]
    return GROUPS[2] if place.module.startswith(_WEIGHTS) else GROUPS[3]


def cases_of(seed: int) -> list[tuple[Case, Case]]:
    """Return lists of random jobs, and the good one that follows each."""
    rng = np.random.default_rng(seed)
    kinds = job_kinds(has_softmax=find_config(CONFIG).has_softmax)
    found = []
    for _ in range(LISTS):
        pair = []
        for count in (JOBS, 1):
            chosen = list(rng.choice(kinds, count))
            pair.append(random_case(rng, 64, DATA_BYTES, chosen, wanted=EngineError.NONE))
        found.append((pair[0], pair[1]))
    return found


def run_lists(
    engine: UpsetEngine, cases: tuple[Case, Case], upset: Upset, cycles: int
) -> tuple[list[Outcome], int]:
    """Return what two lists left, and the cycles that the first took; see `run_trial`."""
    limit = _PATIENCE * cycles
    first = dataclasses.replace(cases[0].given, watchdog_cycles=limit)
    with tempfile.TemporaryDirectory(prefix="kiwicha-upset-") as name:
        folder = Path(name)
        upset.write(folder)
        outcomes = run_rounds(
            engine.program,
            [first, cases[1].given],
            DDR3,
            seed=1,
            host_stall=0,
            folder=folder,
            answer_cycles=2 * limit,
        )
        text = (folder / CYCLES_FILE).read_text()
    return outcomes, int(text.split()[0])


def classify(case: Case, outcome: Outcome) -> Result:
    """Return what a list with an upset has come to, if it has ended."""
    if outcome.status >> 16:
        return Result.REPORTED
    return Result.RIGHT if _is_right(case, outcome) else Result.WRONG


def _is_right(case: Case, outcome: Outcome) -> bool:
    try:
        case.check(outcome, "list")
    except SimulationError:
        return False
    return True


def run_trial(engine: UpsetEngine, cases: tuple[Case, Case], upset: Upset, cycles: int) -> Trial:
    """Flip a bit while the first of two lists runs.

    Parameters
    ----------
    engine : UpsetEngine
        What runs.
    cases : tuple of Case
        The list, and the good one behind it.
    upset : Upset
        What flips.
    cycles : int
        What the list takes without it.
    """
    place = engine.places[upset.place]
    try:
        outcomes, _ = run_lists(engine, cases, upset, cycles)
    except SimulationError as error:
        text = str(error)
        result = Result.HANGS if _HANGS.search(text) else Result.BREAKS_PORT
        # In the second list: the first has ended before.
        if "round 1:" not in text:
            return Trial(place, upset, result, is_usable=False)
        return Trial(place, upset, _first_alone(engine, cases, upset, cycles), is_usable=False)
    result = classify(cases[0], outcomes[0])
    return Trial(place, upset, result, is_usable=_is_right(cases[1], outcomes[1]))


def _first_alone(
    engine: UpsetEngine, cases: tuple[Case, Case], upset: Upset, cycles: int
) -> Result:
    """Return what the first list came to, when the second one fails altogether."""
    with tempfile.TemporaryDirectory(prefix="kiwicha-upset-") as name:
        upset.write(Path(name))
        limited = dataclasses.replace(cases[0].given, watchdog_cycles=_PATIENCE * cycles)
        (outcome,) = run_rounds(
            engine.program, [limited], DDR3, seed=1, host_stall=0, folder=Path(name)
        )
    return classify(cases[0], outcome)


def _draw(rng: random.Random, places: list[tuple[int, Place]], cycles: int) -> Upset:
    number, place = rng.choices(places, [place.total for _, place in places])[0]
    word = rng.randrange(place.words) if place.words else 0
    return Upset(number, rng.randrange(place.bits), word, rng.randrange(cycles))


def _summary(trials: list[Trial]) -> dict[str, Any]:
    results = Counter(trial.result for trial in trials)
    silent = (Result.WRONG, Result.BREAKS_PORT, Result.HANGS)
    where = Counter(
        re.sub(r"\$\d+", "", trial.place.module) for trial in trials if trial.result in silent
    )
    return {
        "trials": len(trials),
        "results": {str(result): results[result] for result in Result},
        "unusable": sum(not trial.is_usable for trial in trials),
        "silent_in": dict(where.most_common(8)),
    }


def main(arguments: list[str] | None = None) -> int:
    """Flip bits until there are enough or time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=400, help="upsets of each group")
    parser.add_argument("--minutes", type=float, default=30.0, help="for all groups together")
    options = parser.parse_args(arguments)
    deadline = time.monotonic() + 60 * options.minutes
    engine = build(
        Engine(macs=64, scratchpad_bytes=SCRATCHPAD_BYTES, has_softmax=False), is_fast=True
    )
    cases = cases_of(options.seed)
    clean = []
    for pair in cases:
        outcomes, cycles = run_lists(engine, pair, NO_UPSET, 1_000_000)
        for case, outcome in zip(pair, outcomes, strict=True):
            case.check(outcome, "list without upset")
        clean.append(cycles)
    record.say(f"{len(cases)} lists of {min(clean)} to {max(clean)} cycles")
    rng = random.Random(options.seed)
    places = list(enumerate(engine.places))
    found: dict[str, list[Trial]] = {group: [] for group in GROUPS}
    for _ in range(options.count):
        for group in GROUPS:
            if time.monotonic() > deadline:
                break
            number = rng.randrange(len(cases))
            inside = [(k, place) for k, place in places if group_of(place) == group]
            upset = _draw(rng, inside, clean[number])
            found[group].append(run_trial(engine, cases[number], upset, clean[number]))
    bits = Counter[str]()
    for _, place in places:
        bits[group_of(place)] += place.total
    record.write(
        RECORD,
        {
            "command": record.command(),
            "config": CONFIG,
            "scratchpad_bytes": SCRATCHPAD_BYTES,
            "seed": options.seed,
            "lists": len(cases),
            "cycles": [min(clean), max(clean)],
            "groups": {
                group: {"bits": bits[group], **_summary(trials)} for group, trials in found.items()
            },
        },
    )
    for group, trials in found.items():
        record.say(f"{group}: {_summary(trials)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
