"""Random ONNX operators in the reference executor, beside onnxruntime."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler import compile_model
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_onnx
from tests.support.models.qdq_builder import OnnxCase, answers
from tests.support.requirements import module

__all__ = ["HALVES", "Tally", "compare"]

HALVES = frozenset({"AveragePool", "GlobalAveragePool", "ReduceMean", "Resize linear"})
"""Operators whose exact results are often halves: which way they go is decided otherwise here."""


@dataclass
class Tally:
    """What was compared.

    Parameters
    ----------
    draws : int
        Models.
    elements, equal : int
        Of their outputs, and how many of them onnxruntime gives, too.
    most_steps : int
        Largest difference.
    halves, equal_halves, even_halves : int
        Elements whose exact result is a half, those of them that are equal, and those for which
        onnxruntime gives the even neighbour; counted for `HALVES` only.
    """

    draws: int = 0
    elements: int = 0
    equal: int = 0
    most_steps: int = 0
    halves: int = 0
    equal_halves: int = 0
    even_halves: int = 0

    @property
    def differing(self) -> int:
        """Elements that differ and are no halves."""
        return self.elements - self.equal - (self.halves - self.equal_halves)


def compare(operator: str, seeds: Iterable[int], config: str = "baseline") -> Tally:
    """Compare draws of an operator.

    Parameters
    ----------
    operator : str
        One of `random_onnx.OPERATORS`.
    seeds : iterable of int
        One for each draw.
    config : str
        What they are compiled for.
    """
    tally = Tally()
    for seed in seeds:
        case = random_onnx.single_operator(operator, seed)
        results = reference.run(compile_model(case.model, config), list(case.inputs))
        for expected, actual in zip(answers(case), results, strict=True):
            assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype), seed
            steps = np.abs(actual.astype(int) - expected.astype(int))
            tally.elements += steps.size
            tally.equal += int(np.count_nonzero(steps == 0))
            tally.most_steps = max(tally.most_steps, int(steps.max(initial=0)))
            if operator in HALVES:
                _count_halves(tally, case, expected, steps == 0)
        tally.draws += 1
    return tally


def _count_halves(tally: Tally, case: OnnxCase, expected: np.ndarray, is_equal: np.ndarray) -> None:
    """Count the results for which the number before QuantizeLinear is a half."""
    onnx = module("onnx", "onnx")
    model = onnx.load_model_from_string(case.model)
    last = model.graph.node.pop()
    known = {item.name: onnx.numpy_helper.to_array(item) for item in model.graph.initializer}
    scale, zero_point = (known[name] for name in last.input[1:])
    info = onnx.helper.make_tensor_value_info(last.input[0], onnx.TensorProto.FLOAT, expected.shape)
    model.graph.output[0].CopyFrom(info)
    (real,) = answers(OnnxCase(model.SerializeToString(), case.inputs))
    steps = real.astype(np.float64) / scale
    below = np.floor(steps)
    is_half = np.abs(steps - below - 0.5) < 1e-4
    limits = np.iinfo(expected.dtype)
    even = (below + below % 2 + int(zero_point)).clip(limits.min, limits.max)
    tally.halves += int(np.count_nonzero(is_half))
    tally.equal_halves += int(np.count_nonzero(is_half & is_equal))
    tally.even_halves += int(np.count_nonzero(is_half & (expected == even)))
