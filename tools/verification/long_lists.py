"""Lists of random jobs for long: ``python -m tools.verification.long_lists``.

On the engine alone, with every behaviour of DRAM that its tests know, and beside a master that
takes every other command at random while refresh is far more frequent than any chip's. What
lists leave is compared byte by byte, and how long the port lets each of its clients wait is
measured. Goes on where it was left, and adds up.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from kiwicha.contract.cfu import CLOCK_HZ
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import JobKind, job_kinds
from kiwicha.contract.latencies import PORT_TURN_WORDS
from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.engine import Engine
from tests.gateware.engine.campaign import SCRATCHPAD_BYTES
from tests.gateware.engine.random_lists import check_cases, random_cases
from tests.gateware.engine.test_engine import TIMINGS
from tests.support.gateware.dram_port import DramTiming
from tools.verification import record
from tools.verification.watched_engine import CLIENTS, build, read_watched, write_cuts

__all__ = ["BOUND_WORDS", "BUSY", "RECORD", "main", "run_seed"]

RECORD = "long_lists"
CONFIG = "64"
BUSY = "beside a master"
DRAMS = {
    **TIMINGS,
    BUSY: DramTiming(
        latency_cycles=16, jitter_cycles=30, stall=0.5, refresh_every_cycles=300, refresh_cycles=43
    ),
}
"""By name; the refresh of that beside a master is as long as the longest of a chip, and more than
twice as frequent."""
BOUND_WORDS = (len(CLIENTS) - 1) * PORT_TURN_WORDS
"""Words that others are granted while a client waits, at most: a turn of each."""
_LISTS, _LONGEST = 24, 6


def run_seed(program: Path, seed: int, row: dict[str, Any], dram: DramTiming) -> None:
    """Run the lists of a seed, and add to what is recorded of a behaviour of DRAM.

    Parameters
    ----------
    program : Path
        From `tools.verification.watched_engine.build`.
    seed : int
        Of the lists, and of all that is random.
    row : dict
        What is recorded.
    dram : DramTiming
        How DRAM behaves.
    """
    kinds = [JobKind(k) for k in job_kinds(has_softmax=find_config(CONFIG).has_softmax)]
    size = SCRATCHPAD_BYTES if seed % 2 else SCRATCHPAD_BYTES // 4
    cases = random_cases(64, size, seed=seed, rounds=_LISTS, longest=_LONGEST, kinds=kinds)
    with tempfile.TemporaryDirectory(prefix="kiwicha-lists-") as name:
        folder = Path(name)
        write_cuts(folder, [])
        try:
            done = check_cases(program, cases, dram, seed=seed, folder=folder)
        except SimulationError as error:
            row["differ"].append(f"seed {seed}: {error}")
            return
        measured = read_watched(folder)
    row["lists"] += len(cases)
    row["jobs"] += done.total()
    row["cycles"] += sum(entry.cycles for entry in measured)
    for number, client in enumerate(CLIENTS):
        waits = row["waits"].setdefault(client, [0, 0])
        for k in range(2):
            waits[k] = max(waits[k], measured[-1].waits[number][k])


def main(arguments: list[str] | None = None) -> int:
    """Run lists until time is up; return 1 if a byte differs or a wait exceeds its bound."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args(arguments)
    found = record.read(Path(), RECORD) or {"seeds": 0, "seconds": 0, "drams": {}}
    found |= {"config": CONFIG, "scratchpad_bytes": SCRATCHPAD_BYTES, "clock_hz": CLOCK_HZ}
    found |= {"bound_words": BOUND_WORDS, "command": record.command()}
    engine = Engine(macs=64, scratchpad_bytes=SCRATCHPAD_BYTES, has_softmax=False)
    program = build(engine, is_fast=True)
    begin = time.monotonic()
    before = found["seconds"]
    while time.monotonic() < begin + 60 * options.minutes:
        seed = found["seeds"]
        name, dram = list(DRAMS.items())[seed % len(DRAMS)]
        row = found["drams"].setdefault(
            name, {"lists": 0, "jobs": 0, "cycles": 0, "differ": [], "waits": {}}
        )
        run_seed(program, seed, row, dram)
        found["seeds"] += 1
        found["seconds"] = before + round(time.monotonic() - begin)
        record.write(RECORD, found)
    rows = found["drams"].values()
    record.say(
        f"{sum(row['lists'] for row in rows):,} lists, {sum(row['cycles'] for row in rows):,} "
        f"cycles, {sum(len(row['differ']) for row in rows)} differ"
    )
    longest = max(waits[1] for row in rows for waits in row["waits"].values())
    return int(any(row["differ"] for row in rows) or longest > BOUND_WORDS)


if __name__ == "__main__":
    sys.exit(main())
