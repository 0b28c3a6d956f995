"""Mutation score: ``python -m tools.mutation`` puts faults into sources and runs their tests.

Faults are drawn at random from a seed, the same in every run; what was tried before is not tried
again. Results are lines of JSON, one file for each module, in ``docs/results/verification``.
"""

import argparse
import importlib.util
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.mutation.equivalence import is_equivalent
from tools.mutation.equivalents import Equivalent, equivalent_faults
from tools.mutation.operators import Mutant, mutants
from tools.mutation.targets import TARGETS, Target
from tools.mutation.trial import Result, check_tests, try_mutant

__all__ = ["RECORDS", "main", "source_of"]

RECORDS = Path("docs/results/verification/mutation")
"""Folder of the results."""


def source_of(target: Target) -> str:
    """Return a module's source."""
    spec = importlib.util.find_spec(target.module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _key(row: Mapping[str, Any]) -> tuple[str, str, int]:
    """Return `Mutant.key` of a record."""
    return row["text"], row["change"], row["place"]


def _recorded(path: Path, known: Sequence[Mutant]) -> list[dict[str, Any]]:
    """Return earlier results of faults that the module still has."""
    if not path.exists():
        return []
    lines = {mutant.key: mutant.line for mutant in known}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row | {"line": lines[_key(row)]} for row in rows if _key(row) in lines]


def _record(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


def _judge(
    target: Target, mutant: Mutant, reasons: Mapping[int, Equivalent], seconds: float
) -> dict[str, Any]:
    """Return the record of a mutant."""
    result = try_mutant(target, mutant.source, seconds)
    if result == Result.SURVIVED:
        is_same = mutant.number in reasons
        if is_same or (target.component and is_equivalent(target, mutant.source)):
            result = Result.EQUIVALENT
    elif mutant.number in reasons:
        raise ValueError(
            f"a fault that a test sees must not be listed as equivalent: {reasons[mutant.number]}"
        )
    if result == Result.SURVIVED:
        _say(f"survived: {target.module}:{mutant.line}: {mutant.change} in {mutant.text}")
    return {
        "line": mutant.line,
        "text": mutant.text,
        "change": mutant.change,
        "place": mutant.place,
        "result": str(result),
    }


def _measure(target: Target, *, seed: int, count: int, deadline: float) -> None:
    """Try faults that were not tried before."""
    path = RECORDS / f"{target.name}.jsonl"
    candidates = mutants(source_of(target))
    reasons = equivalent_faults(target.name, candidates)
    rows = _recorded(path, candidates)
    tried = {_key(row) for row in rows}
    random.Random(seed).shuffle(candidates)
    chosen = candidates[:count] if count else candidates
    left = [mutant for mutant in chosen if mutant.key not in tried]
    if not left or time.monotonic() > deadline:
        return
    seconds = check_tests(target)
    _say(f"{target.name}: {len(candidates)} faults, tests take {seconds:.1f} s")
    for mutant in left:
        if time.monotonic() > deadline:
            return
        rows.append(_judge(target, mutant, reasons, seconds))
        _record(path, rows)


def _recheck(target: Target, *, deadline: float) -> None:
    """Try those that survived once more: tests may have been added."""
    path = RECORDS / f"{target.name}.jsonl"
    known = mutants(source_of(target))
    reasons = equivalent_faults(target.name, known)
    rows = _recorded(path, known)
    if not any(row["result"] == Result.SURVIVED for row in rows):
        return
    seconds = check_tests(target)
    by_key = {mutant.key: mutant for mutant in known}
    for index, row in enumerate(rows):
        if row["result"] == Result.SURVIVED and time.monotonic() < deadline:
            rows[index] = _judge(target, by_key[_key(row)], reasons, seconds)
    _record(path, rows)


def main(arguments: list[str] | None = None) -> int:
    """Measure modules until time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="MODULE", help=f"one of {', '.join(TARGETS)}")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40, help="faults per module; 0: all")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all modules together")
    parser.add_argument("--recheck", action="store_true", help="only those that survived")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(TARGETS))
    if unknown:
        parser.error(f"MODULE must be one of {', '.join(TARGETS)}, not {', '.join(unknown)}")
    deadline = time.monotonic() + 60 * options.minutes
    for name in options.names or TARGETS:
        if options.recheck:
            _recheck(TARGETS[name], deadline=deadline)
            continue
        _measure(TARGETS[name], seed=options.seed, count=options.count, deadline=deadline)
    return 0


if __name__ == "__main__":
    sys.exit(main())
