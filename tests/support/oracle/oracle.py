"""Asks the interpreter that defines a model for its outputs, in a process of its own.

That is TensorFlow Lite Micro for int8, and LiteRT 1.2.0 with its reference kernels for uint8.

One worker of each interpreter serves all tests of a process. The interpreter ends its process on
some models (a failed check aborts): a worker then dies with one case, which is reported as such,
and the next worker goes on behind it. Answers are kept in the cache folder by the contents of the
cases and the interpreter's version.
"""

import atexit
import contextlib
import functools
import hashlib
import importlib.metadata
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kiwicha import cache
from tests.support import requirements

__all__ = ["LITERT", "MICRO", "Answer", "Case", "Interpreter", "ask"]

WORKER = Path(__file__).with_name("worker.py")
TIMEOUT_SECONDS = 300
CRASHES = {signal.SIGABRT, signal.SIGSEGV, signal.SIGFPE}
"""How a model can end the interpreter; any other end is trouble with the machine."""


@dataclass(frozen=True)
class Interpreter:
    """An interpreter: its module, its package, and how that is installed."""

    module: str
    package: str
    requirement: str


MICRO = Interpreter("tflite_micro", "tflite-micro", "--pre tflite-micro")
LITERT = Interpreter(
    "ai_edge_litert", "ai-edge-litert", "ai-edge-litert==1.2.0 (Python below 3.13)"
)


@dataclass(frozen=True, eq=False)
class Case:
    """A model file and one array per input.

    ``interpreter`` is the one that defines it, where that does not follow from its type alone.
    """

    model: bytes
    inputs: tuple[NDArray[Any], ...]
    interpreter: Interpreter | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What the interpreter gave: outputs, or None and why."""

    outputs: tuple[NDArray[Any], ...] | None
    error: str = ""


def ask(cases: Sequence[Case], interpreter: Interpreter = MICRO) -> list[Answer]:
    """Return the interpreter's answer to every case, in their order.

    A case that names its interpreter is put to that one. Skips the running test where an
    interpreter is not installed.
    """
    for needed in {interpreter, *(case.interpreter for case in cases if case.interpreter)}:
        requirements.module(needed.module, needed.requirement)
    folder = cache.cache_dir() / "oracle"
    path = folder / f"{_key(cases, interpreter)}.pickle"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        _write(path, _ask_workers(cases, interpreter))
    return [Answer(outputs, error) for outputs, error in pickle.loads(path.read_bytes())]


def _key(cases: Sequence[Case], interpreter: Interpreter) -> str:
    version = importlib.metadata.version(interpreter.package)
    digest = hashlib.sha256(f"{interpreter.package} {version}".encode())
    digest.update(WORKER.read_bytes())
    for case in cases:
        if case.interpreter is not None:
            digest.update(case.interpreter.package.encode())
        digest.update(case.model)
        for array in case.inputs:
            digest.update(f"{array.dtype}{array.shape}".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def _write(path: Path, content: Any) -> None:
    """Write whole files only: several test processes share the folder."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(pickle.dumps(content))
    Path(file.name).replace(path)


def _ask_workers(cases: Sequence[Case], interpreter: Interpreter) -> list[tuple[Any, str]]:
    return [_worker(case.interpreter or interpreter).ask(case) for case in cases]


@functools.cache
def _worker(interpreter: Interpreter) -> "_Worker":
    return _Worker(interpreter)


class _Worker:
    """A process with an interpreter, started anew behind a case that ended it."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter
        self._start()
        atexit.register(self._stop)

    def ask(self, case: Case) -> tuple[Any, str]:
        """Return outputs, or None and why."""
        assert self._process.stdin is not None
        pickle.dump((case.model, case.inputs), self._process.stdin)
        self._process.stdin.flush()
        if not select.select([self._answers], [], [], TIMEOUT_SECONDS)[0]:
            self._restart()
            raise RuntimeError(f"the oracle must answer within {TIMEOUT_SECONDS} s")
        try:
            answer: tuple[Any, str] = pickle.load(self._answers)
        except EOFError:
            return self._death()
        return answer

    def _death(self) -> tuple[None, str]:
        code = self._process.wait(TIMEOUT_SECONDS)
        self._log.seek(0)
        text = self._log.read().decode(errors="replace").strip()[-300:]
        self._restart()
        if -code in CRASHES:
            return None, f"the interpreter ended with {signal.Signals(-code).name}: {text}"
        raise RuntimeError(f"the oracle ended with {code}: {text}")

    def _start(self) -> None:
        answers, worker_end = os.pipe()
        self._answers = os.fdopen(answers, "rb")
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), self._interpreter.module, str(worker_end)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            pass_fds=[worker_end],
        )
        os.close(worker_end)

    def _stop(self) -> None:
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()
        self._answers.close()
        self._log.close()

    def _restart(self) -> None:
        self._stop()
        self._start()
