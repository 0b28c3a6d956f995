"""Detectors of few boxes."""

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.detection import DetectedBoxes
from kiwicha.kernels.kernel import Call
from kiwicha.kernels.registry import KERNELS
from tests.support.programs.steps import ProgramBuilder, int8s

__all__ = ["PARAMS", "add"]

PARAMS = DetectedBoxes


def add(builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int) -> None:
    """Add a step that compares all boxes, or those of each class."""
    boxes, classes = int(rng.integers(1, 150)), int(rng.integers(1, 12))
    first, most = int(rng.integers(0, 2)), int(rng.integers(1, 10))
    columns = first + classes
    anchors = rng.uniform(0.1, 0.9, (boxes, 4)).astype(np.float32)
    steps = np.linspace(-1.5, 1.5, 256)
    factors = np.stack([steps, steps, np.exp(steps) / 2, np.exp(steps) / 2])
    points = np.arange(256, dtype=np.uint8).view(np.int8).astype(np.float32) / 256
    params = DetectedBoxes(
        builder.input(int8s(rng, (boxes, 4))),
        builder.input(int8s(rng, (boxes, columns))),
        builder.constant(anchors, np.float32),
        builder.constant(factors, np.float64),
        builder.constant(points, np.float32),
        Ref(),
        Ref(),
        boxes=boxes,
        box_bytes=4,
        columns=columns,
        first=first,
        classes=classes,
        most=most,
        per_class=number % 3,
        threshold=int(rng.integers(-128, 129)) if number % 4 == 3 else -128,
        overlap=float(np.float32(rng.uniform(0.1, 0.9))),
    )
    scratch = KERNELS[kernel].prepare(Call(kernel, params, {})).scratch_bytes
    refs = {"output": builder.output((4 * (6 * most + 1),)), "scratch": builder.arena(scratch)}
    builder.step(kernel, PARAMS(**{**vars(params), **refs}))
