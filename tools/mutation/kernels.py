"""Faults in C kernels: ``python -m tools.mutation.kernels`` lets their Programs find them.

Each fault is compiled into the firmware as a program of this machine. Programs of random steps of
every kernel, and models, run in it until an output is another than that of the reference executor.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha import tools
from kiwicha.contract.cfu import Status
from kiwicha.errors import ToolError
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.native import run_native
from kiwicha.firmware.sources import FOLDER, RUNTIME_FOLDERS, runtime_sources
from kiwicha.kernels.element_types import numpy_type
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from tools.mutation.c_operators import CFault, c_faults
from tools.mutation.fault_rows import read_rows, write_rows
from tools.mutation.trial import Result
from tools.verification import record
from tools.verification.c_programs import CONFIG, c_programs

__all__ = ["RECORD", "main"]

RECORD = Path("docs/results/verification/c_faults.jsonl")
_HOST = FOLDER / "host"
_FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKIWICHA_HAS_CFU_MODEL", "-O1", "-w")
_ELSEWHERE = {"custom", "engine", "engine_pause"}
"""Files that no Program of this configuration executes: of user's kernels, and of the engine."""
_SECONDS = 10.0
"""What a Program may take, many times as long as without a fault."""


@dataclass(frozen=True)
class _Case:
    """A Program, its inputs, and the outputs that it must give."""

    raw: bytes
    inputs: Sequence[bytes]
    outputs: tuple[bytes, ...]


def _case(program: Program, inputs: Sequence[bytes]) -> _Case:
    arrays = [
        np.frombuffer(raw, numpy_type(tensor.dtype)).reshape(tensor.shape)
        for raw, tensor in zip(inputs, program.inputs, strict=True)
    ]
    outputs = reference.run(program, arrays)
    return _Case(program.to_bytes(), inputs, tuple(output.tobytes() for output in outputs))


class _Firmware:
    """The firmware, compiled file by file, so that another one takes a moment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        (folder / HEADER_NAME).write_text(header(CONFIG), encoding="utf-8")
        compiler = tools.cxx().command
        includes = (f"-I{include}" for include in (folder, *RUNTIME_FOLDERS, _HOST))
        self._compile = [*compiler, *_FLAGS, *includes]
        self._link = [*compiler, "-o", "native"]
        self._objects = {path: folder / f"{path.stem}.o" for path in runtime_sources(CONFIG, _HOST)}
        for source, compiled in self._objects.items():
            tools.run(self._command(source, compiled), name="the compiler", folder=folder)

    def _command(self, source: Path, compiled: Path) -> list[str]:
        return [*self._compile, "-x", "c", "-c", str(source), "-o", str(compiled)]

    def build(self, path: Path, source: str) -> Path | None:
        """Return the program with another source of a file; None if it cannot be compiled."""
        changed, compiled = self._folder / "changed.c", self._folder / "changed.o"
        changed.write_text(source, encoding="utf-8")
        command = [*self._command(changed, compiled), f"-I{path.parent}"]
        done = subprocess.run(command, cwd=self._folder, capture_output=True, check=False)
        if done.returncode:
            return None
        objects = [compiled if each == path else other for each, other in self._objects.items()]
        tools.run([*self._link, *map(str, objects)], name="the linker", folder=self._folder)
        return self._folder / "native"


def _result(executable: Path | None, cases: list[_Case]) -> Result:
    """Run Programs until one is wrong, which goes to the front."""
    if executable is None:
        return Result.BROKEN
    for place, case in enumerate(cases):
        try:
            found = run_native(
                executable,
                case.raw,
                case.inputs,
                outputs=len(case.outputs),
                timeout_seconds=_SECONDS,
            )
            is_right = found.status is Status.OK and found.outputs == case.outputs
        except (ToolError, subprocess.TimeoutExpired):
            is_right = False
        if not is_right:
            cases.insert(0, cases.pop(place))
            return Result.KILLED
    return Result.SURVIVED


def _files() -> list[Path]:
    return [
        path
        for path in runtime_sources(CONFIG, _HOST)
        if path.parent.name == "kernels" and path.stem not in _ELSEWHERE
    ]


def _faults(path: Path, count: int, seed: int) -> list[CFault]:
    faults = c_faults(path.read_text(encoding="utf-8"))
    random.Random(f"{seed} {path.name}").shuffle(faults)
    return faults[:count]


def main(arguments: list[str] | None = None) -> int:
    """Try faults until there are enough or time is up; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=6, help="faults of each file")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--recheck", action="store_true", help="only those that survived")
    options = parser.parse_args(arguments)
    deadline = time.monotonic() + 60 * options.minutes
    rows = read_rows(RECORD)
    cases = [_case(*each) for each in c_programs(seeds=3, steps=6)]
    with tempfile.TemporaryDirectory(prefix="kiwicha-kernels-") as name:
        firmware = _Firmware(Path(name))
        for path in _files():
            faults = _faults(path, options.count, options.seed)
            if faults and _result(firmware.build(path, path.read_text()), cases) != Result.SURVIVED:
                raise RuntimeError(f"Programs must give the reference's outputs ({path.name})")
            for fault in faults:
                key = f"{path.name} {fault.number}"
                row = rows.get(key)
                is_left = row is None or (options.recheck and row["result"] == Result.SURVIVED)
                if not is_left:
                    continue
                if time.monotonic() > deadline:
                    return 0
                result = _result(firmware.build(path, fault.source), cases)
                if result == Result.SURVIVED:
                    record.say(f"survived: {path.name}:{fault.line}: {fault.change}")
                rows[key] = {
                    "number": key,
                    "file": path.name,
                    "line": fault.line,
                    "change": fault.change,
                    "result": str(result),
                }
                write_rows(RECORD, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
