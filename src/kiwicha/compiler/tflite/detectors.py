"""Detectors: the operator that makes boxes is taken off the graph, for the host, or stays there.

Either way it reads what is quantized, before the DEQUANTIZE operators that feed it alone.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np
from flatbuffers import flexbuffers

from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.custom import MODEL_PREFIX
from kiwicha.detection.boxes import (
    CORNERS,
    DETECTION_NAME,
    Detection,
    Floats,
    Settings,
    dequantized,
)
from kiwicha.errors import ModelError

__all__ = [
    "DETECTION_RULE",
    "NAME",
    "detach_detector",
    "detection_of",
    "detection_problems",
    "keep_detector",
]

NAME = MODEL_PREFIX + DETECTION_NAME
DETECTION_RULE = (
    "It is the last operator. The host computes it, or the CPU (`--detect`). Boxes and scores are "
    "uint8, or float32 from DEQUANTIZE operators right before it, which read int8 or uint8. Boxes "
    "are [1, n, 4 or more], scores [1, n, num_classes or 1 more]; anchors are a constant [n, 4] of "
    "the type of the boxes. max_classes_per_detection is 1, max_detections, num_classes and "
    "detections_per_class are at least 1, nms_iou_threshold is more than 0 and at most 1, and no "
    "scale is 0."
)
_DEQUANTIZE = "DEQUANTIZE"
_OPERANDS = ("box encodings", "scores", "anchors")
_PER_CLASS = 100
"""Boxes of a class that are kept, if the options do not say."""
_SCALES = ("y_scale", "x_scale", "h_scale", "w_scale")


def detach_detector(graph: Graph) -> tuple[Graph, Detection | None]:
    """Return a graph without its last operator if the host does that, and the host's step.

    Parameters
    ----------
    graph : Graph
        From `kiwicha.compiler.tflite.reader.read`.

    Returns
    -------
    graph : Graph
        Its outputs are the encodings and the scores, in this order, without their DEQUANTIZE.
    detection : Detection or None
        None if there is no such operator, or if it has `detection_problems`: then
        `kiwicha.compiler.check.check` refuses it.

    Raises
    ------
    ModelError
        If its options are damaged.
    """
    last = graph.operators[-1]
    if last.name != NAME or any(detection_problems(graph, last)):
        return graph, None
    stripped = _stripped(graph)
    outputs = tuple(_source(graph, last, position).index for position in range(2))
    rest = dataclasses.replace(graph, operators=graph.operators[:stripped], outputs=outputs)
    rest.verify(is_folded=True)
    return rest, detection_of(graph, last)


def keep_detector(graph: Graph) -> Graph:
    """Return a graph whose last operator, if it makes boxes, is `DETECTION_NAME` on bytes.

    Parameters
    ----------
    graph : Graph
        That `kiwicha.compiler.check.check` accepts.
    """
    last = graph.operators[-1]
    if last.name != NAME:
        return graph
    stripped = _stripped(graph)
    sources = tuple(_source(graph, last, position).index for position in range(2))
    done = tuple(
        dataclasses.replace(operator, inputs=(), outputs=())
        for operator in graph.operators[stripped:-1]
    )
    kept = dataclasses.replace(last, name=DETECTION_NAME, inputs=(*sources, last.inputs[2]))
    tensors = list(graph.tensors)
    # Files leave the shapes of its outputs out.
    for index, shape in zip(last.outputs, _settings(last).output_shapes, strict=True):
        tensors[index] = dataclasses.replace(tensors[index], shape=shape, shape_signature=())
    kept_graph = dataclasses.replace(
        graph,
        tensors=tuple(tensors),
        operators=(*graph.operators[:stripped], *done, kept),
    )
    kept_graph.verify(is_folded=True)
    return kept_graph


def detection_of(graph: Graph, last: Operator) -> Detection:
    """Return the step of an operator that makes boxes, and has no `detection_problems`."""
    encodings, scores = (_source(graph, last, position) for position in range(2))
    a, b = encodings.quantization, scores.quantization
    assert a is not None
    assert b is not None
    return Detection(
        _anchors(graph.input(last, 2)),
        a.scale,
        a.zero_point + encodings.shift,
        b.scale,
        b.zero_point + scores.shift,
        _settings(last),
    )


def detection_problems(graph: Graph, operator: Operator) -> Iterator[str]:
    """Yield what keeps the host from doing an operator of this `NAME`, and what must be instead.

    Raises
    ------
    ModelError
        If its options are damaged.
    """
    if operator is not graph.operators[-1] or operator.outputs != graph.outputs:
        yield "it must be the model's last operator, and its outputs the model's"
    if len(operator.inputs) != len(_OPERANDS) or -1 in operator.inputs:
        yield f"inputs must be {', '.join(_OPERANDS)}, not {len(operator.inputs)} tensors"
        return
    settings = _settings(operator)
    yield from _tensor_problems(graph, operator, settings)
    if settings.max_classes != 1:
        # The interpreter gives equal scores any order.
        yield f"max_classes_per_detection must be 1, not {settings.max_classes}"
    for name, value in (
        ("max_detections", settings.max_detections),
        ("num_classes", settings.classes),
        ("detections_per_class", 1 if settings.per_class is None else settings.per_class),
    ):
        if value < 1:
            yield f"{name} must be at least 1, not {value}"
    if not 0 < settings.overlap_threshold <= 1:
        yield f"nms_iou_threshold must be more than 0, at most 1, not {settings.overlap_threshold}"
    for name, scale in zip(_SCALES, settings.scales, strict=True):
        if not scale:
            yield f"{name} must not be 0"


def _tensor_problems(graph: Graph, operator: Operator, settings: Settings) -> Iterator[str]:
    tensors = [graph.input(operator, position) for position in range(3)]
    is_float = tensors[0].type is TensorType.FLOAT32
    problem = False
    for position, (what, tensor) in enumerate(zip(_OPERANDS, tensors, strict=True)):
        fits = tensor.type is TensorType.FLOAT32 if is_float else tensor.is_shifted
        source = _source(graph, operator, position)
        if position < 2 and is_float:
            fits &= source.type is TensorType.INT8
        if position < 2 and source.is_constant:
            problem = True
            yield f"{what} must be computed, not a constant"
        if not fits or (source.type is TensorType.INT8 and source.quantization is None):
            problem = True
            if position < 2:
                yield (
                    f"{what} must be quantized uint8, or float32 from a DEQUANTIZE right before "
                    f"it, not {_text(tensor)}; quantize the network up to here"
                )
            else:
                kind = "float32" if is_float else "uint8"
                yield f"{what} must be {kind}, as the box encodings are, not {_text(tensor)}"
    encodings, scores, anchors = (tensor.shape for tensor in tensors)
    if not tensors[2].is_constant:
        problem = True
        yield "anchors must be a constant"
    if problem:
        return
    boxes = anchors[0] if anchors else 0
    classes = settings.classes
    if len(anchors) != 2 or anchors[1] != CORNERS:
        yield f"anchors must have shape [boxes, {CORNERS}], not {list(anchors)}"
    elif len(encodings) != 3 or encodings[:2] != (1, boxes) or encodings[2] < CORNERS:
        yield f"box encodings must have shape [1, {boxes}, 4 or more], not {list(encodings)}"
    elif scores not in {(1, boxes, classes), (1, boxes, classes + 1)}:
        yield (
            f"scores must have shape [1, {boxes}, {classes} or {classes + 1}] for num_classes "
            f"{classes}, not {list(scores)}"
        )


def _text(tensor: Tensor) -> str:
    return "uint8" if tensor.is_shifted else tensor.type.text


def _anchors(tensor: Tensor) -> Floats:
    if tensor.type is TensorType.FLOAT32:
        assert tensor.data is not None
        return tensor.data.view("<f4").reshape(tensor.shape).astype(np.float32)
    assert tensor.quantization is not None
    return dequantized(tensor.int8s(), tensor.quantization.scale, tensor.quantization.zero_point)


def _stripped(graph: Graph) -> int:
    """Return how many operators come before the last one and the DEQUANTIZEs that feed it alone."""
    last = graph.operators[-1]
    count = len(graph.operators) - 1
    while count > 1 and _feeds(graph.operators[count - 1], last):
        count -= 1
    return count


def _feeds(operator: Operator, last: Operator) -> bool:
    return operator.name == _DEQUANTIZE and not {*last.inputs}.isdisjoint(operator.outputs)


def _source(graph: Graph, last: Operator, position: int) -> Tensor:
    """Return an input of the last operator, before the DEQUANTIZE that is taken off with it."""
    tensor = graph.input(last, position)
    if last is not graph.operators[-1]:
        return tensor
    for operator in graph.operators[_stripped(graph) : -1]:
        if operator.outputs[0] == tensor.index:
            return graph.input(operator)
    return tensor


def _settings(operator: Operator) -> Settings:
    """Return the operator's options."""
    try:
        options = flexbuffers.Loads(operator.options.custom)
        y, x, height, width = (float(options[name]) for name in _SCALES)
        is_regular = bool(options.get("use_regular_nms", False))
        return Settings(
            int(options["max_detections"]),
            int(options["max_classes_per_detection"]),
            int(options["num_classes"]),
            float(options["nms_score_threshold"]),
            float(options["nms_iou_threshold"]),
            (y, x, height, width),
            int(options.get("detections_per_class", _PER_CLASS)) if is_regular else None,
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        where = f"operator {operator.index} {operator.name}"
        raise ModelError(f"{where}: options are damaged ({error})") from error
