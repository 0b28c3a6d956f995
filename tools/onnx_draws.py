"""Random ONNX operators beside onnxruntime: ``python -m tools.onnx_draws --json F``.

Draws models of every operator that is read, computes them with the reference executor and with
onnxruntime, and counts which elements are equal.
"""

import argparse
import dataclasses
import json
import math
import sys
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from kiwicha import cache
from kiwicha.compiler import compile_model
from tests.support.models import random_onnx
from tests.support.models.onnx_comparison import compare

__all__ = ["DRAWS", "fingerprint", "main", "seeds_of_each"]

DRAWS = 2000
"""Models in all, at least."""
_FIRST_SEED = 100
_CONFIG = "baseline"
_ORACLE = "onnxruntime"


def seeds_of_each() -> range:
    """Return the seeds of the draws of each operator."""
    return range(_FIRST_SEED, _FIRST_SEED + math.ceil(DRAWS / len(random_onnx.OPERATORS)))


def fingerprint() -> dict[str, str]:
    """Return a hash of what the outcome depends on: ``programs`` of one draw of each operator."""
    return {
        "programs": cache.digest(
            compile_model(random_onnx.single_operator(name, _FIRST_SEED).model, _CONFIG).to_bytes()
            for name in random_onnx.OPERATORS
        )
    }


def main(words: Sequence[str] | None = None) -> int:
    """Compare all draws; return 1 if an element is more than a step off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="receives the counts of each operator")
    chosen = parser.parse_args(words)
    began = time.monotonic()
    found = {name: compare(name, seeds_of_each(), _CONFIG) for name in random_onnx.OPERATORS}
    elements, equal = (
        sum(getattr(tally, name) for tally in found.values()) for name in ("elements", "equal")
    )
    worst = max(tally.most_steps for tally in found.values())
    sys.stdout.write(f"{equal:,} of {elements:,} elements are equal, others {worst} off at most\n")
    if chosen.json:
        outcome = {
            "operators": {name: dataclasses.asdict(tally) for name, tally in found.items()},
            "versions": {_ORACLE: version(_ORACLE)},
            "seconds": round(time.monotonic() - began),
            "inputs": fingerprint(),
        }
        chosen.json.write_text(json.dumps(outcome, indent=2) + "\n", encoding="utf-8")
    return int(worst > 1)


if __name__ == "__main__":
    sys.exit(main())
