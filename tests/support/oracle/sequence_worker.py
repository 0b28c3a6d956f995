"""Runs models in an interpreter, each several times in a row: pickled cases on stdin.

Arguments are the interpreter's module, and the file that receives the pickled answers.
"""

import importlib
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ARENA_BYTES = 8 << 20
Inputs = tuple[Any, ...]


def run_micro(model: bytes, sets: Sequence[Inputs]) -> list[tuple[Any, ...]]:
    """Return the outputs of TensorFlow Lite Micro."""
    tflite = importlib.import_module("tflite")
    runtime = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    count = tflite.Model.GetRootAsModel(model, 0).Subgraphs(0).OutputsLength()
    answers: list[Any] = []
    for inputs in sets:
        for index, value in enumerate(inputs):
            interpreter.set_input(value, index)
        interpreter.invoke()
        answers.append(tuple(interpreter.get_output(index).copy() for index in range(count)))
    return answers


def run_litert(model: bytes, sets: Sequence[Inputs]) -> list[tuple[Any, ...]]:
    """Return the outputs of LiteRT's reference kernels."""
    litert = importlib.import_module("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        model_content=model,
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
    )
    interpreter.allocate_tensors()
    details = interpreter.get_input_details(), interpreter.get_output_details()
    answers: list[Any] = []
    for inputs in sets:
        for detail, value in zip(details[0], inputs, strict=True):
            interpreter.set_tensor(detail["index"], value)
        interpreter.invoke()
        answers.append(tuple(interpreter.get_tensor(detail["index"]) for detail in details[1]))
    return answers


RUNNERS = {"tflite_micro": run_micro, "ai_edge_litert": run_litert}


def main() -> None:
    """Answer every case."""
    answers: list[Any] = []
    for model, sets in pickle.load(sys.stdin.buffer):
        try:
            answers.append(RUNNERS[sys.argv[1]](model, sets))
        except (RuntimeError, ValueError) as error:
            answers.append(str(error))
    Path(sys.argv[2]).write_bytes(pickle.dumps(answers))


if __name__ == "__main__":
    main()
