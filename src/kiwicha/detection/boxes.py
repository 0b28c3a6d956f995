"""The last step of detectors: from box encodings and class scores to boxes.

TFLite calls it TFLite_Detection_PostProcess. By default a Program gives the two tensors that it
reads, and the host does the rest; as a kernel it is part of the Program.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CORNERS",
    "DETECTION_NAME",
    "Detection",
    "Floats",
    "Found",
    "Settings",
    "corners",
    "dequantized",
    "find_boxes",
]

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]
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
    per_class : int or None
        Boxes of a class that are kept, at most: boxes are compared class by class. None: a box is
        known by its best class, and compared with all others.
    """

    max_detections: int
    max_classes: int
    classes: int
    score_threshold: float
    overlap_threshold: float
    scales: tuple[float, float, float, float]
    per_class: int | None = None

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
        Ref: tensorflow/lite/micro/kernels/detection_postprocess.cc in tflite-micro.
        """
        points = dequantized(scores[0], self.score_scale, self.score_zero_point)
        return find_boxes(self._decoded(encodings[0]), points, self.settings)

    def _decoded(self, encodings: NDArray[Any]) -> Floats:
        """Return top, left, bottom and right of all boxes."""
        real = dequantized(encodings[:, :CORNERS], self.box_scale, self.box_zero_point)
        relative = real.astype(np.float64) / np.array(self.settings.scales, np.float32)
        return corners(relative[:, :2], 0.5 * np.exp(relative[:, 2:]), self.anchors)


def corners(places: Doubles, halves: Doubles, anchors: Floats) -> Floats:
    """Return top, left, bottom and right of boxes; single steps are rounded to float32.

    Parameters
    ----------
    places : float64 [boxes, 2]
        Centres (y, x) from those of the anchors, in their sizes.
    halves : float64 [boxes, 2]
        Half heights and widths in those of the anchors.
    anchors : float32 [boxes, 4]
        Centre (y, x), height and width.
    """
    wide = anchors.astype(np.float64)
    centres = (places * wide[:, 2:] + wide[:, :2]).astype(np.float32)
    distances = (halves * wide[:, 2:]).astype(np.float32)
    return np.concatenate([centres - distances, centres + distances], axis=1)


def find_boxes(boxes: Floats, points: Floats, settings: Settings) -> Found:
    """Return the boxes that are kept.

    Parameters
    ----------
    boxes : float32 [boxes, 4]
        Top, left, bottom, right.
    points : float32 [boxes, classes]
        Score of each class; the first one may be that of the background.
    settings : Settings
        Options.
    """
    points = points[:, points.shape[1] - settings.classes :]
    found = Found(*(np.zeros(shape, np.float32) for shape in settings.output_shapes))
    if settings.per_class is not None:
        pairs = _best_of_classes(boxes, points, settings, settings.per_class)
    else:
        chosen = _chosen(boxes, points.max(axis=1), settings, settings.max_detections)
        each = min(settings.max_classes, settings.classes)
        order = np.argsort(-points[chosen], axis=1, kind="stable")[:, :each]
        pairs = [(box, int(k)) for box, best in zip(chosen, order, strict=True) for k in best]
    found.count[0] = len(pairs)
    for number, (box, best) in enumerate(pairs):
        found.boxes[0, number] = boxes[box]
        found.classes[0, number] = best
        found.scores[0, number] = points[box, best]
    return found


def _best_of_classes(
    boxes: Floats, points: Floats, settings: Settings, per_class: int
) -> list[tuple[int, int]]:
    """Return box and class of the best ones of all classes, the best first."""
    pairs: list[tuple[int, int]] = []
    for number in range(settings.classes):
        chosen = _chosen(boxes, points[:, number], settings, per_class)
        pairs += [(box, number) for box in chosen]
        # Of equal scores the first one stays first.
        pairs.sort(key=lambda pair: -points[pair])
        del pairs[settings.max_detections :]
    return pairs


def _chosen(boxes: Floats, scores: Floats, settings: Settings, most: int) -> list[int]:
    """Return the numbers of the boxes that are kept, the best first."""
    kept = np.flatnonzero(scores >= np.float32(settings.score_threshold))
    rest = kept[np.argsort(-scores[kept], kind="stable")]
    chosen: list[int] = []
    while rest.size and len(chosen) < most:
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
