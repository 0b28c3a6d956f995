"""Models beside the reference, job by job: ``python -m tools.verification.jobs``.

As ``kiwicha run --check-jobs``, for several models; what was measured before stays unless it is
measured again.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.compiler import compile_model
from kiwicha.sim.profile.checked_run import run_checked
from kiwicha.zoo import models as zoo
from tools.verification import record

__all__ = ["RECORD", "main"]

RECORD = "jobs"
_MODELS = ("person_detect", "kws", "resnet8", "vww", "ad", "mnv2")


def _row(model: str, config: str, seed: int) -> dict[str, Any]:
    program = compile_model(zoo.resolve(model)[1], config)
    rng = np.random.default_rng(seed)
    inputs = [rng.bytes(tensor.ref.bytes) for tensor in program.inputs]
    _, compared = run_checked(program, inputs, inferences=2)
    return {
        "model": model,
        "config": config,
        "seed": seed,
        "lists": compared.lists,
        "jobs": compared.jobs,
        "transfers": compared.transfers,
        "bytes": compared.octets,
        "difference": None if compared.difference is None else str(compared.difference),
    }


def main(arguments: list[str] | None = None) -> int:
    """Run models; return the exit code, 1 if a job differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="by default those of MLPerf")
    parser.add_argument("--config", default="64", help="one or more, with commas between")
    parser.add_argument("--seed", type=int, default=0, help="of the inputs")
    options = parser.parse_args(arguments)
    rows = {(row["model"], row["config"]): row for row in record.read(Path(), RECORD) or []}
    for config in options.config.split(","):
        for model in options.models or _MODELS:
            row = rows[model, config] = _row(model, config, options.seed)
            record.write(RECORD, list(rows.values()))
            record.say(str(row))
    return int(any(row["difference"] for row in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
