"""Answers of a model to labelled data."""

from collections.abc import Callable

import numpy as np

from kiwicha.evaluation.examples import Examples
from kiwicha.evaluation.scores import Scores
from kiwicha.interpreter.executors import executor_of, numpy_type
from kiwicha.program.image import Program

__all__ = ["evaluated"]

_AT_A_TIME = 16


def evaluated(
    program: Program, examples: Examples, threads: int, report: Callable[[int], None]
) -> Scores:
    """Return what the answers of a model are worth, computed with the kernels on this machine.

    Parameters
    ----------
    program : Program
        Of `kiwicha.firmware.native_library.NATIVE_CONFIG`, with one input and no states.
    examples : Examples
        The data.
    threads : int
        How many are computed at a time.
    report : callable
        Is told how many are done.
    """
    tensor = program.inputs[0]
    executor = executor_of("native", program, threads)
    outputs = []
    for chunk in examples.chunks(_AT_A_TIME * threads):
        sets = [[np.frombuffer(raw, numpy_type(tensor)).reshape(tensor.shape)] for raw in chunk]
        outputs += [found[0].reshape(-1).copy() for found in executor.run(sets)]
        report(len(outputs))
    return Scores.of(np.stack(outputs), examples.classes)
