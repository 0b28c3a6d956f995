"""Faults in C kernels: ``python -m tools.mutation.kernels`` lets Programs find them.

Each fault is compiled into the firmware as a program of this machine. Programs of random steps of
every kernel, and models, run in it until an output is another than that of the reference executor.
With ``--checks`` faults are put into checks of parameters: Programs with bad ones must be refused
with their status, too.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from kiwicha.errors import ToolError
from tools.mutation.c_cases import CCase, are_right, bad_cases, good_cases, write_cases
from tools.mutation.c_equivalents import equivalent_c_faults
from tools.mutation.c_firmware import CFirmware
from tools.mutation.c_operators import CFault, c_faults
from tools.mutation.fault_rows import read_rows, write_rows
from tools.mutation.trial import Result
from tools.verification import record
from tools.verification.c_programs import CONFIGS, host_sources, register_operators

__all__ = ["CHECKS_RECORD", "RECORD", "main"]

RECORD = Path("docs/results/verification/c_faults.jsonl")
CHECKS_RECORD = Path("docs/results/verification/c_check_faults.jsonl")
_ELSEWHERE = {"engine", "engine_pause"}
"""Files that no Program of a host executes: of the engine."""


class _Trials:
    """Firmware of each configuration, and files of its Programs."""

    def __init__(self, folder: Path, cases: list[CCase]) -> None:
        self._firmware = {
            config.name: CFirmware(config, folder / config.name) for config in CONFIGS
        }
        self._cases = {name: folder / f"{name}.cases" for name in self._firmware}
        for name, path in self._cases.items():
            write_cases((case for case in cases if case.config == name), path)
        source = _files()[0]
        if self.result(source, source.read_text(encoding="utf-8")) != Result.SURVIVED:
            raise ToolError("Programs must come to what they must without a fault")

    def result(self, path: Path, source: str) -> Result:
        """Run Programs with another source of a file until one is wrong."""
        for name, firmware in self._firmware.items():
            if not firmware.has(path):
                continue
            executable = firmware.build(path, source)
            if executable is None:
                return Result.BROKEN
            if not are_right(executable, self._cases[name]):
                return Result.KILLED
        return Result.SURVIVED


def _files() -> list[Path]:
    found = {path for config in CONFIGS for path in host_sources(config)}
    return sorted(
        path for path in found if path.parent.name == "kernels" and path.stem not in _ELSEWHERE
    )


def _chosen(known: Sequence[CFault], path: Path, count: int, seed: int) -> list[CFault]:
    """Return some faults of a file, drawn by a seed."""
    faults = [*known]
    random.Random(f"{seed} {path.name}").shuffle(faults)
    return faults[:count]


def _result(path: Path, fault: CFault, trials: _Trials, reasons: Mapping[int, object]) -> Result:
    """Return what becomes of a fault."""
    result = trials.result(path, fault.source)
    if result is Result.SURVIVED:
        if fault.number in reasons:
            return Result.EQUIVALENT
        record.say(f"survived: {path.name}:{fault.line}: {fault.change} in {fault.text}")
    elif fault.number in reasons:
        raise ToolError(f"a fault that is seen is not equivalent: {reasons[fault.number]}")
    return result


def main(arguments: list[str] | None = None) -> int:
    """Try faults until there are enough or time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=6, help="faults of each file")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--checks", action="store_true", help="faults in checks of parameters")
    parser.add_argument("--recheck", action="store_true", help="only those that survived")
    options = parser.parse_args(arguments)
    register_operators()
    deadline = time.monotonic() + 60 * options.minutes
    path_of_rows = CHECKS_RECORD if options.checks else RECORD
    rows = read_rows(path_of_rows)
    cases = [*bad_cases(), *good_cases(seeds=3, steps=6)]
    with tempfile.TemporaryDirectory(prefix="kiwicha-kernels-") as name:
        trials = _Trials(Path(name), cases)
        for path in _files():
            source = path.read_text(encoding="utf-8")
            known = c_faults(source, of_checks=options.checks)
            reasons = equivalent_c_faults(path.name, known)
            chosen = _chosen(known, path, options.count, options.seed)
            for fault in known if options.recheck else chosen:
                key = f"{path.name} {fault.number}"
                result = rows[key]["result"] if key in rows else None
                if result != (Result.SURVIVED if options.recheck else None):
                    continue
                if time.monotonic() > deadline:
                    return 0
                rows[key] = {
                    "number": key,
                    "file": path.name,
                    "line": fault.line,
                    "text": fault.text,
                    "change": fault.change,
                    "result": str(_result(path, fault, trials, reasons)),
                }
                write_rows(path_of_rows, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
