"""What an interpreter gives for several inferences in a row, with what it keeps between them."""

import hashlib
import importlib.metadata
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kiwicha import cache
from tests.support import requirements
from tests.support.oracle.oracle import MICRO, Interpreter

__all__ = ["Outputs", "ask_in_a_row"]

WORKER = Path(__file__).with_name("sequence_worker.py")
TIMEOUT_SECONDS = 300

Arrays = tuple[NDArray[Any], ...]
Outputs = list[Arrays]
"""Of every inference."""


def ask_in_a_row(
    cases: Sequence[tuple[bytes, Sequence[Arrays]]], interpreter: Interpreter = MICRO
) -> list[Outputs]:
    """Return the outputs of all inferences of every case: a model and a set of inputs for each.

    Answers are kept in the cache folder. Skips the running test where the interpreter is not
    installed.
    """
    requirements.module(interpreter.module, interpreter.requirement)
    asked = pickle.dumps([(model, [tuple(one) for one in sets]) for model, sets in cases])
    version = importlib.metadata.version(interpreter.package)
    digest = hashlib.sha256(f"{interpreter.package} {version}".encode())
    digest.update(WORKER.read_bytes())
    digest.update(asked)
    key = digest.hexdigest()

    def answer_into(folder: Path) -> None:
        subprocess.run(
            [sys.executable, str(WORKER), interpreter.module, str(folder / "answers.pickle")],
            input=asked,
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=TIMEOUT_SECONDS,
        )

    folder = cache.build("oracle", key, answer_into)
    answers: list[Any] = pickle.loads((folder / "answers.pickle").read_bytes())
    wrong = [answer for answer in answers if isinstance(answer, str)]
    assert not wrong, wrong
    return answers
