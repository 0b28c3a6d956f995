"""Runs models in an interpreter: pickled cases on stdin, pickled answers to a pipe.

Arguments are the interpreter's module, and the descriptor of the pipe.
"""

import importlib
import os
import pickle
import sys
from typing import Any

ARENA_BYTES = 8 << 20


def run_micro(model: bytes, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the outputs of TensorFlow Lite Micro."""
    tflite = importlib.import_module("tflite")
    runtime = importlib.import_module("tflite_micro.python.tflite_micro.runtime")
    interpreter = runtime.Interpreter.from_bytes(model, arena_size=ARENA_BYTES)
    for index, value in enumerate(inputs):
        interpreter.set_input(value, index)
    interpreter.invoke()
    count = tflite.Model.GetRootAsModel(model, 0).Subgraphs(0).OutputsLength()
    return tuple(interpreter.get_output(index) for index in range(count))


def run_litert(model: bytes, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the outputs of LiteRT's reference kernels."""
    litert = importlib.import_module("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        model_content=model,
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_REF,
    )
    interpreter.allocate_tensors()
    for detail, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return tuple(interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details())


RUNNERS = {"tflite_micro": run_micro, "ai_edge_litert": run_litert}


def main() -> None:
    """Answer every case, each answer flushed: the next case may end the process."""
    run = RUNNERS[sys.argv[1]]
    with os.fdopen(int(sys.argv[2]), "wb") as results:
        while True:
            try:
                model, inputs = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            answer: tuple[Any, str]
            try:
                answer = run(model, inputs), ""
            except (RuntimeError, ValueError) as error:
                answer = None, str(error)
            pickle.dump(answer, results)
            results.flush()


if __name__ == "__main__":
    main()
