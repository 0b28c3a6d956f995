"""Many inferences in a row of a model that keeps states, on the simulated system.

``python -m tools.soak MODEL --config 64`` draws inputs, compares every output with the reference
executor, and the longest inference with the longest one of the first thousand.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.program_run import run_sequence
from kiwicha.zoo import models as zoo

__all__ = ["BEGINNING", "differing", "drawn", "main", "soak"]

INFERENCES = 10_000
BEGINNING = 1000
"""Inferences of which the longest must not be exceeded by those behind them."""
_CYCLES_OF_ONE = 1_000_000
"""So many for each inference, and the simulation is given up."""


def drawn(program: Program, count: int, seed: int = 0) -> list[list[bytes]]:
    """Return random bytes for the inputs of so many inferences."""
    rng = np.random.default_rng(seed)
    return [[rng.bytes(tensor.ref.bytes) for tensor in program.inputs] for _ in range(count)]


def differing(
    program: Program, sets: Sequence[Sequence[bytes]], found: Sequence[Sequence[bytes]]
) -> list[int]:
    """Return the numbers of the inferences that gave other bytes than the reference executor."""
    session = Session(program)
    wrong = []
    for number, (one, outputs) in enumerate(zip(sets, found, strict=True)):
        if [output.tobytes() for output in session.run(one)] != list(outputs):
            wrong.append(number)
    return wrong


def soak(program: Program, inferences: int, beginning: int = BEGINNING) -> dict[str, Any]:
    """Run a Program many times in a row, and return what came of it.

    Parameters
    ----------
    program : Program
        Without a double buffer.
    inferences : int
        How many, more than ``beginning``.
    beginning : int
        See `BEGINNING`.
    """
    sets = drawn(program, inferences)
    start = time.monotonic()
    result = run_sequence(program, sets, max_cycles=_CYCLES_OF_ONE * inferences)
    seconds = time.monotonic() - start
    return {
        "inferences": inferences,
        "beginning": beginning,
        "differing": differing(program, sets, result.outputs),
        "least": min(result.cycles),
        "most_at_beginning": max(result.cycles[:beginning]),
        "most_after": max(result.cycles[beginning:]),
        "seconds": round(seconds),
    }


def main(words: Sequence[str] | None = None) -> int:
    """Run a model; return 1 if a byte differs, or an inference takes longer than the first ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a file, or a name of a public model")
    parser.add_argument("--config", default="64")
    parser.add_argument("--inferences", type=int, default=INFERENCES)
    parser.add_argument("--json", type=Path, help="receives what came of it")
    chosen = parser.parse_args(words)
    name, path, _ = zoo.resolve(chosen.model)
    program = compile_model(path, chosen.config)
    outcome = {
        "model": name,
        "config": chosen.config,
        **soak(program, chosen.inferences, min(BEGINNING, chosen.inferences // 2)),
        "inputs": run_fingerprint(program),
    }
    if chosen.json is not None:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(f"{json.dumps(outcome, indent=2)}\n", encoding="utf-8")
    sys.stdout.write(
        f"{name} on {chosen.config}: {outcome['inferences']:,} inferences, "
        f"{len(outcome['differing'])} differ; {outcome['least']:,} cycles and more, at most "
        f"{outcome['most_at_beginning']:,} of the first {outcome['beginning']:,}, and "
        f"{outcome['most_after']:,} of the others\n"
    )
    return 1 if outcome["differing"] or outcome["most_after"] > outcome["most_at_beginning"] else 0


if __name__ == "__main__":
    sys.exit(main())
