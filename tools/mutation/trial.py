"""One mutant and its tests.

Tests run in a fork of this process, which has imported large packages: that takes longer than most
tests. If what is mutated was among it, all modules of the project are imported anew.
"""

import contextlib
import importlib
import math
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from tools.mutation.hook import install
from tools.mutation.targets import Target

__all__ = ["REPOSITORY", "Result", "check_tests", "try_mutant"]

REPOSITORY = Path(__file__).parents[2]
"""Where tests run."""
_PASSED, _FAILED = 0, 1
_SHARED = ("numpy", "pytest", "hypothesis", "xdist.plugin", "kiwicha.cli")
"""What every test imports, by itself or by its fixtures."""
_OURS = ("kiwicha", "tests", "gateware", "sim", "boards", "firmware")
_POLL_SECONDS = 0.01
_SLOWER = 4
"""Times that tests may take as long as without a fault; what takes longer hangs."""
_LEAST_SECONDS = 4
"""Of processor time: that of other processes does not count."""
_SLEEPING = 60
"""Times that tests may take as long by the clock as they may work."""


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
    """Run the tests without a fault; return the seconds of processor time that they take.

    Raises
    ------
    RuntimeError
        If they fail.
    """
    code, text, seconds = _run(target, None, None)
    if code != _PASSED:
        raise RuntimeError(f"tests must pass without a fault ({target.name}):\n{text}")
    return seconds


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
    code, text, _ = _run(target, source, max(_LEAST_SECONDS, math.ceil(_SLOWER * seconds)))
    if code < 0:
        return Result.HANGS
    if code == _PASSED:
        return Result.SURVIVED
    return Result.KILLED if code == _FAILED and " failed" in text else Result.BROKEN


def _run(target: Target, source: str | None, seconds: int | None) -> tuple[int, str, float]:
    """Run the tests in a process of their own.

    Returns
    -------
    code : int
        Its exit code, negative if it was ended because it took longer.
    text : str
        What it wrote.
    used : float
        Seconds of processor time.
    """
    for name in _SHARED:
        importlib.import_module(name)
    command = [
        *("-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly"),
        *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
        *("-m", "not verilator and not nightly", *target.tests),
    ]
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        child = os.fork()
        if not child:
            if seconds:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            _become_tests(target.module, source, command, output.fileno())
        code, used = _waited(child, _SLEEPING * seconds if seconds else None)
        output.seek(0)
        return code, output.read().decode("utf-8", "replace"), used


def _waited(child: int, seconds: float | None) -> tuple[int, float]:
    """Return the exit code of a process and its processor time; end it if it takes longer."""
    deadline = time.monotonic() + seconds if seconds else None
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime
        if deadline and time.monotonic() > deadline:
            deadline = None
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


def _become_tests(module: str, source: str | None, command: Sequence[str], output: int) -> None:
    """Run tests in a fork, and end it."""
    code = -1
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(output, stream)
        sys.stdout = sys.stderr = open(1, "w", encoding="utf-8", closefd=False)
        os.chdir(REPOSITORY)
        if module in sys.modules:
            for name in [name for name in sys.modules if name.partition(".")[0] in _OURS]:
                del sys.modules[name]
        if source is not None:
            install(module, source)
        _find_failures_only()
        pytest = importlib.import_module("pytest")
        code = int(pytest.main(list(command)))
        sys.stdout.flush()
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        raise
    finally:
        os._exit(code & 0xFF)


def _find_failures_only() -> None:
    """Let property tests end with their first failure, instead of looking for a smaller one."""
    hypothesis = importlib.import_module("hypothesis")
    kinds = hypothesis.Phase
    hypothesis.settings.register_profile(
        "faults", database=None, phases=(kinds.explicit, kinds.generate), derandomize=True
    )
    hypothesis.settings.load_profile("faults")
