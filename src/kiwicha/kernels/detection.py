"""TFLite_Detection_PostProcess: from box encodings and class scores to boxes.

Notes
-----
Ref: tensorflow/lite/micro/kernels/detection_postprocess.cc in tflite-micro.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, f32, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.detection.boxes import CORNERS, Settings, corners, find_boxes
from kiwicha.kernels.kernel import Call, Cost, Declaration, Memory, Work

__all__ = ["KERNELS", "DetectedBoxes"]

_SCORES = 256
"""Values that a score has."""


@dataclass(frozen=True)
class DetectedBoxes(Struct):
    """Boxes with their classes and scores, the best first; what is behind them is 0.

    Of boxes of a class, or of all, those that overlap a better one too much are left out.
    """

    input: Ref = ref("int8 [boxes, box_bytes]: encodings of y, x, height, width, and others")
    scores: Ref = ref("int8 [boxes, columns]")
    anchors: Ref = ref("float32 [boxes, 4], constant: centre (y, x), height, width")
    factors: Ref = ref("float64 [4, 256], constant: of what an anchor is, by the unsigned byte")
    points: Ref = ref("float32 [256], constant: score, by the unsigned byte; ascending as int8")
    output: Ref = ref("float32: boxes [most, 4], classes [most], scores [most], and their count")
    scratch: Ref = ref("working memory")
    boxes: int = u32("number of boxes")
    box_bytes: int = u32("4 or more")
    columns: int = u32("scores of a box")
    first: int = u32("column of the first class")
    classes: int = u32("columns that count")
    most: int = u32("boxes that are kept, at most")
    per_class: int = u32("of a class; 0: a box is known by its best class")
    threshold: int = i32("smallest score that counts; 128: none does")
    overlap: float = f32("of more than this with a better box is too much")


def _reference(memory: Memory, p: DetectedBoxes) -> NDArray[np.float32]:
    encodings = memory.load(p.input, np.uint8, (p.boxes, p.box_bytes))
    anchors = memory.load(p.anchors, np.float32, (p.boxes, CORNERS))
    factors = memory.load(p.factors, np.float64, (CORNERS, _SCORES))
    real = np.stack([factors[k][encodings[:, k]] for k in range(CORNERS)], axis=1)
    scores = memory.load(p.scores, np.uint8, (p.boxes, p.columns))[:, p.first :][:, : p.classes]
    # A score that does not count is less than all others.
    table = memory.load(p.points, np.float32, (_SCORES,))
    points = np.where(scores.view(np.int8) >= p.threshold, table[scores], np.float32(-np.inf))
    settings = Settings(
        max_detections=p.most,
        max_classes=1,
        classes=p.classes,
        score_threshold=float(np.finfo(np.float32).min),
        overlap_threshold=p.overlap,
        scales=(1.0, 1.0, 1.0, 1.0),
        per_class=p.per_class or None,
    )
    found = find_boxes(corners(real[:, :2], real[:, 2:], anchors), points, settings)
    return np.concatenate([part.reshape(-1) for part in found.outputs])


def _scratch_bytes(p: DetectedBoxes) -> int:
    """Return the bytes of corners, order, counts of scores and classes, results, and marks."""
    return (20 + 4) * p.boxes + 4 * _SCORES + 4 * p.classes + 8 * p.most + 3 * p.boxes


def _prepared(call: Call) -> Call:
    return dataclasses.replace(call, scratch_bytes=-(-_scratch_bytes(call.params) // 4) * 4)


def _work(p: DetectedBoxes) -> Work:
    # As if all scores counted.
    kept = p.per_class * p.classes if p.per_class else p.most
    return Work(p.boxes * p.columns, p.boxes, p.boxes * kept)


KERNELS = (
    Declaration(
        kernel=Kernel.DETECTION,
        params=DetectedBoxes,
        reference=_reference,
        is_on_demand=True,
        cost=Cost(step=2470.0, output=8.0, unit=6000.0, extra=400.0),
        work=_work,
        prepare=_prepared,
    ),
)
