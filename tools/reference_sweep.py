"""Combinations of parameters, and random operators, in the reference executor, in parallel.

``python -m tools.reference_sweep``, which ``nox -s sweep`` runs, compiles each for each of
`REFERENCE_CONFIGS`, compares with the interpreter that defines it, and says how long that took:
all combinations of the parameters of convolutions, and models of every operator that are drawn.
The answers of the interpreters are kept by the contents of the models; see
`tests.support.oracle.oracle`.
"""

import argparse
import functools
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kiwicha import cache
from kiwicha.compiler import compile_model
from kiwicha.contract.configs import CONFIGS
from kiwicha.sim.reference import executor as reference
from tests.support.models import convolution_sweep as sweep
from tests.support.models import operator_sweep
from tests.support.oracle import oracle

__all__ = [
    "EVERYTHING",
    "REFERENCE_CONFIGS",
    "answers",
    "case_of",
    "differing",
    "fingerprint",
    "main",
]

Item = sweep.Combination | operator_sweep.Draw
Outputs = tuple[np.ndarray, ...]
BLOCK = 108
"""Combinations that are asked for together."""
REFERENCE_CONFIGS = (*CONFIGS, "64", "128", "256")
FINGERPRINT_STEP = 61
"""Every so many-th combination counts: a prime, so that all parameters change."""


EVERYTHING: list[Item] = [
    *sweep.COMBINATIONS,
    *sweep.MORE_COMBINATIONS,
    *operator_sweep.DRAWS,
]
"""What the sweep is of."""


def case_of(item: Item) -> oracle.Case:
    """Return the model of a combination or draw, and its inputs."""
    if isinstance(item, operator_sweep.Draw):
        return operator_sweep.case(item)
    return sweep.case(item)


def _is_of_int16(item: Item) -> bool:
    return isinstance(item, operator_sweep.Draw) and item.is_short


def answers(combinations: Sequence[Item]) -> list[tuple[oracle.Case, Outputs]]:
    """Return the model of each combination and what its interpreter gives."""
    cases = [case_of(combination) for combination in combinations]
    found: dict[int, oracle.Answer] = {}
    for interpreter in (oracle.MICRO, oracle.LITERT):
        members = [
            number
            for number, combination in enumerate(combinations)
            if combination.is_unsigned == (interpreter is oracle.LITERT)
        ]
        given = oracle.ask([cases[number] for number in members], interpreter)
        found |= dict(zip(members, given, strict=True))
    results = []
    for number, (combination, case) in enumerate(zip(combinations, cases, strict=True)):
        outputs = found[number].outputs
        assert outputs is not None, f"{combination}: {found[number].error}"
        results.append((case, outputs))
    return results


def differing(
    combinations: Sequence[Item], configs: Sequence[str] = REFERENCE_CONFIGS
) -> list[str]:
    """Return which combinations differ, and for which configuration."""
    problems = []
    for combination, (case, expected) in zip(combinations, answers(combinations), strict=True):
        for config in configs:
            got = reference.run(compile_model(case.model, config), case.inputs)
            pairs = list(zip(got, expected, strict=True))
            if any(a.dtype != b.dtype or not np.array_equal(a, b) for a, b in pairs):
                problems.append(f"{combination} {config}")
    return problems


def fingerprint() -> dict[str, str]:
    """Return a hash of what the sweep's outcome depends on.

    Returns
    -------
    dict
        ``programs``: the Programs of a sample of the combinations. Compiling all of them would take
        most of the sweep's own time.
    """
    models = [case_of(item).model for item in EVERYTHING[::FINGERPRINT_STEP]]
    return {
        "programs": cache.digest(
            compile_model(model, config).to_bytes()
            for model in models
            for config in REFERENCE_CONFIGS
        )
    }


def main(words: Sequence[str] | None = None) -> int:
    """Check every so many-th combination; return 1 if any differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--step", type=int, default=1, help="of combinations, 1 for all of them")
    parser.add_argument("--json", type=Path, help="receives what was compared, and how long")
    parser.add_argument("--int16", action="store_true", help="only operators on int16")
    parser.add_argument(
        "--config", default=",".join(REFERENCE_CONFIGS), help="configurations, with commas"
    )
    chosen = parser.parse_args(words)
    items = [item for item in EVERYTHING if not chosen.int16 or _is_of_int16(item)]
    combinations = items[:: chosen.step]
    configs = tuple(chosen.config.split(","))
    blocks = [combinations[k : k + BLOCK] for k in range(0, len(combinations), BLOCK)]
    start, done = time.monotonic(), 0
    problems: list[str] = []
    compare = functools.partial(differing, configs=configs)
    with multiprocessing.get_context("spawn").Pool(chosen.jobs) as pool:
        for block, found in zip(blocks, pool.imap(compare, blocks), strict=True):
            problems += found
            done += len(block)
            passed = time.monotonic() - start
            sys.stdout.write(
                f"{done} of {len(combinations)} combinations, {len(configs)} "
                f"configurations each; {len(problems)} differ; {passed:.0f} s\n"
            )
            sys.stdout.flush()
        pool.close()
        pool.join()
    used = [
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ]
    if chosen.json is not None:
        outcome = {
            "combinations": len(combinations),
            "configs": list(configs),
            "differing": problems,
            "jobs": chosen.jobs,
            "seconds": round(time.monotonic() - start),
            "processor_seconds": round(sum(used)),
            "inputs": fingerprint(),
        }
        chosen.json.write_text(f"{json.dumps(outcome, indent=2)}\n", encoding="utf-8")
    sys.stdout.writelines(f"{problem} differs\n" for problem in problems)
    sys.stdout.write(f"{sum(used):.0f} s of processor time in {chosen.jobs} processes\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
