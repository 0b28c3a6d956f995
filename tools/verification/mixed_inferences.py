"""Inferences of mixed models for long: ``python -m tools.verification.mixed_inferences``.

Pairs of random small networks on the simulated system: one runs all the time, the other whenever a
timer's interrupt asks for it, at random, and makes the first one leave the engine. The CPU reads
and writes DRAM meanwhile. Outputs of every inference are compared with the reference executor's.
Goes on where it was left, and adds up.
"""

import argparse
import sys
import time
from pathlib import Path

from kiwicha.compiler import compile_model
from kiwicha.errors import SimulationError
from kiwicha.program.image import Program
from tests.support.models import random_networks
from tools.beside.run import Mode, run_beside
from tools.verification import record

__all__ = ["RECORD", "main", "pair"]

RECORD = "mixed_inferences"
CONFIG = "64-preempt"
_SUMS = ("inferences", "urgent", "suspensions", "wrong", "noise_wrong", "cycles")
_COUNT = 200
"""Urgent inferences of a pair."""
_NOISE_BYTES = 16 * 1024
_LEAST_CYCLES = 500
_MODELS = 40


def pair(number: int) -> tuple[Program, Program]:
    """Return two Programs of networks that the engine executes, the longer one first."""
    seeds = (1 + number % _MODELS, 1 + (7 * number + 3) % _MODELS)
    programs = [compile_model(random_networks.engine_network(seed).model, CONFIG) for seed in seeds]
    slow, urgent = sorted(programs, key=lambda program: -len(program.to_bytes()))
    return slow, urgent


def main(arguments: list[str] | None = None) -> int:
    """Run pairs until there are enough inferences or time is up; return 1 if one was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inferences", type=int, default=10_000, help="in all")
    parser.add_argument("--minutes", type=float, default=60.0)
    options = parser.parse_args(arguments)
    found = record.read(Path(), RECORD) or {
        "config": CONFIG,
        "pairs": 0,
        "failed": [],
        **dict.fromkeys(_SUMS, 0),
        "longest_wait": 0,
    }
    found["command"] = record.command()
    deadline = time.monotonic() + 60 * options.minutes
    while found["inferences"] < options.inferences and time.monotonic() < deadline:
        number = found["pairs"]
        found["pairs"] += 1
        slow, urgent = pair(number)
        try:
            outcome = run_beside(
                slow,
                urgent,
                Mode.URGENT,
                count=_COUNT,
                least_cycles=_LEAST_CYCLES,
                spread_cycles=2000 << number % 4,
                noise_bytes=_NOISE_BYTES * (number % 2),
                seed=1 + number,
            )
        except (SimulationError, AssertionError) as error:
            found["failed"].append(f"pair {number}: {error}")
            record.write(RECORD, found)
            continue
        found["inferences"] += outcome.slow_inferences + len(outcome.waits)
        found["urgent"] += len(outcome.waits)
        found["suspensions"] += outcome.suspensions
        found["wrong"] += outcome.wrong
        found["noise_wrong"] += outcome.noise_wrong
        found["cycles"] += outcome.total_cycles
        found["longest_wait"] = max(found["longest_wait"], *outcome.waits)
        record.write(RECORD, found)
        record.say(f"{found['inferences']:,} inferences, {found['wrong']} wrong")
    return int(bool(found["wrong"] or found["noise_wrong"] or found["failed"]))


if __name__ == "__main__":
    sys.exit(main())
