"""One mutant and its tests."""

import json
import os
import subprocess
import sys
import tempfile
import time
from enum import StrEnum
from pathlib import Path

from tools.mutation.hook import MUTANT
from tools.mutation.targets import Target

__all__ = ["REPOSITORY", "Result", "check_tests", "try_mutant"]

REPOSITORY = Path(__file__).parents[2]
"""Where tests run."""
_PASSED, _FAILED = 0, 1
_SLOWER = 4
"""Times that tests may take as long as without a fault; what takes longer hangs."""
_LEAST_SECONDS = 30.0


class Result(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    """A test failed."""
    BROKEN = "broken"
    """It could not be imported: every test would see it, and it does not count."""
    HANGS = "hangs"
    """Tests took many times as long: it counts as killed."""
    EQUIVALENT = "equivalent"
    """No test can fail: its netlist computes the same for ever."""
    SURVIVED = "survived"
    """Every test passed."""


def check_tests(target: Target) -> float:
    """Run the tests without a fault; return the seconds that they take.

    Raises
    ------
    RuntimeError
        If they fail.
    """
    start = time.monotonic()
    code, text = _run(target, {}, None)
    if code != _PASSED:
        raise RuntimeError(f"tests must pass without a fault ({target.name}):\n{text}")
    return time.monotonic() - start


def try_mutant(target: Target, source: str, seconds: float) -> Result:
    """Run a module's tests with another source of the module.

    Parameters
    ----------
    target : Target
    source : str
        Of the mutant.
    seconds : float
        What `check_tests` returned.
    """
    with tempfile.TemporaryDirectory(prefix="kiwicha-mutant-") as name:
        path = Path(name) / "mutant.json"
        fields = {"module": target.module, "source": source}
        path.write_text(json.dumps(fields), encoding="utf-8")
        environment = {MUTANT: str(path)}
        try:
            code, text = _run(target, environment, max(_LEAST_SECONDS, _SLOWER * seconds))
        except subprocess.TimeoutExpired:
            return Result.HANGS
    if code == _PASSED:
        return Result.SURVIVED
    return Result.KILLED if code == _FAILED and " failed" in text else Result.BROKEN


def _run(target: Target, environment: dict[str, str], seconds: float | None) -> tuple[int, str]:
    command = [
        *(sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "tools.mutation.hook"),
        *("-p", "no:cacheprovider", "-p", "no:randomly", "-m", "not verilator and not nightly"),
        *target.tests,
    ]
    paths = os.pathsep.join([str(REPOSITORY), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=seconds,
        check=False,
    )
    return done.returncode, done.stdout
