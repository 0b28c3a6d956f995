"""Detectors: the operator that makes boxes is taken off the graph, for the host."""

import dataclasses

import numpy as np
from flatbuffers import flexbuffers

from kiwicha.compiler.graph import Graph, Operator, Tensor
from kiwicha.custom import MODEL_PREFIX
from kiwicha.detection import CORNERS, DETECTION_NAME, Detection, Settings, dequantized
from kiwicha.errors import ModelError

__all__ = ["NAME", "detached"]

NAME = MODEL_PREFIX + DETECTION_NAME
_SCALES = ("y_scale", "x_scale", "h_scale", "w_scale")


def detached(graph: Graph) -> tuple[Graph, Detection | None]:
    """Return a graph without its last operator if the host does that, and the host's step.

    Parameters
    ----------
    graph : Graph
        From `kiwicha.compiler.reader.read`.

    Returns
    -------
    graph : Graph
        Its outputs are the encodings and the scores, in this order.
    detection : Detection or None
        None if there is no such operator, or if it does not stand at the end of a uint8 model and
        gives each box its best class only: then `kiwicha.compiler.check` refuses it.

    Raises
    ------
    ModelError
        If its options are damaged.
    """
    last = graph.operators[-1]
    if last.name != NAME or tuple(last.outputs) != tuple(graph.outputs) or len(last.inputs) != 3:
        return graph, None
    encodings, scores, anchors = (graph.input(last, position) for position in range(3))
    settings = _settings(last)
    if settings is None or not _fits(encodings, scores, anchors, settings):
        return graph, None
    a, b, c = (tensor.quantization for tensor in (encodings, scores, anchors))
    assert a is not None
    assert b is not None
    assert c is not None
    detection = Detection(
        dequantized(anchors.int8s(), c.scale, c.zero_point),
        a.scale,
        a.zero_point + encodings.shift,
        b.scale,
        b.zero_point + scores.shift,
        settings,
    )
    rest = dataclasses.replace(
        graph, operators=graph.operators[:-1], outputs=(encodings.index, scores.index)
    )
    return rest, detection


def _settings(operator: Operator) -> Settings | None:
    """Return the operator's options; None for the variant that compares boxes class by class."""
    try:
        options = flexbuffers.Loads(operator.options.custom)
        if options.get("use_regular_nms", False):
            return None
        y, x, height, width = (float(options[name]) for name in _SCALES)
        return Settings(
            int(options["max_detections"]),
            int(options["max_classes_per_detection"]),
            int(options["num_classes"]),
            float(options["nms_score_threshold"]),
            float(options["nms_iou_threshold"]),
            (y, x, height, width),
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        where = f"operator {operator.index} {operator.name}"
        raise ModelError(f"{where}: options are damaged ({error})") from error


def _fits(encodings: Tensor, scores: Tensor, anchors: Tensor, settings: Settings) -> bool:
    """Whether tensors and options go together."""
    tensors = (encodings, scores, anchors)
    if not all(tensor.is_shifted and tensor.quantization is not None for tensor in tensors):
        return False
    if (len(encodings.shape), len(scores.shape), len(anchors.shape)) != (3, 3, 2):
        return False
    boxes = anchors.shape[0]
    counts = (settings.max_detections, settings.max_classes, settings.classes)
    return (
        anchors.is_constant
        and not encodings.is_constant
        and not scores.is_constant
        and (encodings.shape[:2], scores.shape[:2]) == ((1, boxes), (1, boxes))
        and encodings.shape[2] >= CORNERS == anchors.shape[1]
        and scores.shape[2] - settings.classes in {0, 1}
        and min(counts) >= 1
        and settings.max_classes == 1  # the interpreter gives equal scores any order
        and 0 < settings.overlap_threshold <= 1
        and bool(np.all(np.array(settings.scales) != 0))
    )
