"""The last step of detectors, on the host: from box encodings and class scores to boxes.

What TFLite calls TFLite_Detection_PostProcess works in floating point on few numbers, so it is no
kernel: a Program gives the two tensors it reads, and the host does the rest.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DETECTION_NAME", "Detection", "Floats", "Found", "Settings", "dequantized"]

Floats = NDArray[np.float32]
DETECTION_NAME = "TFLite_Detection_PostProcess"
"""The operator's custom code."""
CORNERS = 4


@dataclass(frozen=True)
class Settings:
    """Options of the operator.

    Parameters
    ----------
    max_detections : int
        Boxes that are kept, at most.
    max_classes : int
        Classes that are given for each box.
    classes : int
        Classes without the background, which may come first.
    score_threshold, overlap_threshold : float
        Boxes with a smaller score, or a larger overlap with a better box, are dropped.
    scales : tuple of float
        Of the encodings of y, x, height and width.
    """

    max_detections: int
    max_classes: int
    classes: int
    score_threshold: float
    overlap_threshold: float
    scales: tuple[float, float, float, float]

    @property
    def output_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of boxes, classes, scores and their count."""
        boxes = self.max_detections * self.max_classes
        return (1, boxes, CORNERS), (1, boxes), (1, boxes), (1,)


@dataclass(frozen=True, eq=False)
class Found:
    """What was detected, as the operator's four outputs give it.

    Parameters
    ----------
    boxes : float32 [1, n, 4]
        Top, left, bottom, right in parts of the picture.
    classes : float32 [1, n]
        Class numbers, without the background.
    scores : float32 [1, n]
        0 to 1.
    count : float32 [1]
        How many boxes there are; what is behind them is 0.
    """

    boxes: Floats
    classes: Floats
    scores: Floats
    count: Floats

    @property
    def outputs(self) -> tuple[Floats, ...]:
        """The outputs in the operator's order."""
        return self.boxes, self.classes, self.scores, self.count


@dataclass(frozen=True, eq=False)
class Detection:
    """The step of one model.

    Parameters
    ----------
    anchors : float32 [boxes, 4]
        Centre (y, x), height and width of each box's anchor.
    box_scale, box_zero_point : float, int
        Of the encodings, uint8 or int8.
    score_scale, score_zero_point : float, int
        Of the scores, uint8 or int8.
    settings : Settings
        Options.
    """

    anchors: Floats
    box_scale: float
    box_zero_point: int
    score_scale: float
    score_zero_point: int
    settings: Settings

    def find(self, encodings: NDArray[Any], scores: NDArray[Any]) -> Found:
        """Return what is in a picture.

        Parameters
        ----------
        encodings : uint8 or int8 [1, boxes, 4 or more]
            Position and size of each box against its anchor.
        scores : uint8 or int8 [1, boxes, classes]
            Score of each class; the first one may be that of the background.

        Notes
        -----
        Ref: tensorflow/lite/kernels/detection_postprocess.cc, the fast variant: each box is known
        by its best class, and boxes are compared whatever their classes are.
        """
        settings = self.settings
        boxes = self._decoded(encodings[0])
        points = dequantized(scores[0], self.score_scale, self.score_zero_point)
        points = points[:, points.shape[1] - settings.classes :]
        chosen = self._chosen(boxes, points.max(axis=1))
        each = min(settings.max_classes, settings.classes)
        order = np.argsort(-points[chosen], axis=1, kind="stable")[:, :each]
        found = Found(*(np.zeros(shape, np.float32) for shape in settings.output_shapes))
        found.count[0] = len(chosen)
        for number, (box, classes) in enumerate(zip(chosen, order, strict=True)):
            first = number * settings.max_classes
            found.boxes[0, first : first + each] = boxes[box]
            found.classes[0, first : first + each] = classes
            found.scores[0, first : first + each] = points[box, classes]
        return found

    def _decoded(self, encodings: NDArray[Any]) -> Floats:
        """Return top, left, bottom and right of all boxes; single steps are rounded to float32."""
        real = dequantized(encodings[:, :CORNERS], self.box_scale, self.box_zero_point)
        relative = real.astype(np.float64) / np.array(self.settings.scales, np.float32)
        anchors = self.anchors.astype(np.float64)
        centres = (relative[:, :2] * anchors[:, 2:] + anchors[:, :2]).astype(np.float32)
        halves = (0.5 * np.exp(relative[:, 2:]) * anchors[:, 2:]).astype(np.float32)
        return np.concatenate([centres - halves, centres + halves], axis=1)

    def _chosen(self, boxes: Floats, scores: Floats) -> list[int]:
        """Return the numbers of the boxes that are kept, the best first."""
        settings = self.settings
        kept = np.flatnonzero(scores >= np.float32(settings.score_threshold))
        rest = kept[np.argsort(-scores[kept], kind="stable")]
        chosen: list[int] = []
        while rest.size and len(chosen) < settings.max_detections:
            best, rest = int(rest[0]), rest[1:]
            chosen.append(best)
            overlaps = _overlaps(boxes[best], boxes[rest])
            rest = rest[~(overlaps > np.float32(settings.overlap_threshold))]
        return chosen


def dequantized(values: NDArray[Any], scale: float, zero_point: int) -> Floats:
    """Return the float32 numbers that quantized values stand for."""
    return (values.astype(np.float32) - np.float32(zero_point)) * np.float32(scale)


def _overlaps(box: Floats, others: Floats) -> Floats:
    """Return the intersection of a box with others, over their union."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    inner = np.maximum(high - low, np.float32(0)).prod(axis=1)
    area, areas = (box[2:] - box[:2]).prod(), (others[:, 2:] - others[:, :2]).prod(axis=1)
    is_flat = (area <= 0) | (areas <= 0)
    union = np.where(is_flat, np.float32(1), area + areas - inner)
    return np.where(is_flat, np.float32(0), inner / union).astype(np.float32)
