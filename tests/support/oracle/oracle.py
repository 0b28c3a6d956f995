"""Asks the interpreter that defines a model for its outputs, in a process of its own.

That is TensorFlow Lite Micro for int8, and LiteRT 1.2.0 with its reference kernels for uint8.

The interpreter ends its process on some models (a failed check aborts): a worker then dies with one
case, which is reported as such, and the next worker goes on behind it. Answers are kept in
``build/oracle`` by the contents of the cases and the interpreter's version.
"""

import hashlib
import importlib.metadata
import io
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tests.support import requirements

__all__ = ["LITERT", "MICRO", "Answer", "Case", "Interpreter", "ask"]

WORKER = Path(__file__).with_name("worker.py")
CACHE = requirements.REPOSITORY / "build" / "oracle"
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
    """A model file and one array per input."""

    model: bytes
    inputs: tuple[NDArray[Any], ...]


@dataclass(frozen=True, eq=False)
class Answer:
    """What the interpreter gave: outputs, or None and why."""

    outputs: tuple[NDArray[Any], ...] | None
    error: str = ""


def ask(cases: Sequence[Case], interpreter: Interpreter = MICRO) -> list[Answer]:
    """Return the interpreter's answer to every case, in their order.

    Skips the running test where the interpreter is not installed.
    """
    requirements.module(interpreter.module, interpreter.requirement)
    path = CACHE / f"{_key(cases, interpreter)}.pickle"
    if not path.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        _write(path, _ask_workers(cases, interpreter))
    return [Answer(outputs, error) for outputs, error in pickle.loads(path.read_bytes())]


def _key(cases: Sequence[Case], interpreter: Interpreter) -> str:
    version = importlib.metadata.version(interpreter.package)
    digest = hashlib.sha256(f"{interpreter.package} {version}".encode())
    digest.update(WORKER.read_bytes())
    for case in cases:
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
    answers: list[tuple[Any, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results"
        while len(answers) < len(cases):
            rest = [(case.model, case.inputs) for case in cases[len(answers) :]]
            worker = subprocess.run(
                [sys.executable, str(WORKER), interpreter.module, str(results)],
                input=pickle.dumps(rest),
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
            answers.extend(_records(results.read_bytes()))
            text = worker.stderr.decode(errors="replace").strip()[-300:]
            if -worker.returncode in CRASHES:
                name = signal.Signals(-worker.returncode).name
                answers.append((None, f"the interpreter ended with {name}: {text}"))
            elif worker.returncode != 0:
                raise RuntimeError(f"the oracle ended with {worker.returncode}: {text}")
    return answers


def _records(raw: bytes) -> list[tuple[Any, str]]:
    records = []
    file = io.BytesIO(raw)
    while file.tell() < len(raw):
        records.append(pickle.load(file))
    return records
