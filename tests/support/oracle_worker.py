"""Runs models in TensorFlow Lite Micro: pickled cases on stdin, pickled answers to a file."""

import pickle
import sys
from pathlib import Path
from typing import Any

import tflite
from tflite_micro.python.tflite_micro import runtime

ARENA_BYTES = 8 << 20


def run(model: bytes, inputs: tuple[Any, ...]) -> tuple[Any, str]:
    """Return the outputs and "", or None and the interpreter's complaint."""
    try:
        interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
        for index, value in enumerate(inputs):
            interpreter.set_input(value, index)
        interpreter.invoke()
        count = tflite.Model.GetRootAsModel(model, 0).Subgraphs(0).OutputsLength()
        return tuple(interpreter.get_output(index) for index in range(count)), ""
    except (RuntimeError, ValueError) as error:
        return None, str(error)


def main() -> None:
    """Answer every case, each answer flushed: the next case may end the process."""
    cases = pickle.load(sys.stdin.buffer)
    with Path(sys.argv[1]).open("wb") as results:
        for model, inputs in cases:
            pickle.dump(run(model, inputs), results)
            results.flush()


if __name__ == "__main__":
    main()
