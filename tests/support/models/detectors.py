"""Models that end with the boxes of a detector."""

from typing import Any

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

__all__ = ["BOXES", "DETECTION", "OPTIONS", "detector"]

DETECTION = "CUSTOM:TFLite_Detection_PostProcess"

OPTIONS: dict[str, Any] = {
    "max_detections": 8,
    "max_classes_per_detection": 1,
    "num_classes": 5,
    "nms_score_threshold": 0.2,
    "nms_iou_threshold": 0.4,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
}
BOXES = 40


def detector(
    seed: int,
    options: bytes | None = None,
    dtype: type[np.generic] = np.uint8,
    *,
    is_float: bool = False,
    has_shapes: bool = False,
    **changes: Any,
) -> oracle.Case:
    """Give a model that makes boxes from its two inputs, through float32 or not.

    TensorFlow Lite Micro needs shapes of the outputs, which files lack.
    """
    rng = np.random.default_rng(seed)
    settings = OPTIONS | changes
    builder = ModelBuilder()
    scores = settings["num_classes"] + int(rng.integers(0, 2))
    shapes = (1, BOXES, 4), (1, BOXES, scores)
    lowest = int(np.iinfo(dtype).min)
    parameters = (
        {"scale": 0.08, "zero_point": lowest + 120},
        {"scale": 1 / 256, "zero_point": lowest},
    )
    pairs = [
        (
            builder.tensor((1, shape[1] * shape[2]), dtype, **quantization),
            builder.tensor(shape, dtype, **quantization),
        )
        for shape, quantization in zip(shapes, parameters, strict=True)
    ]
    for (source, target), shape in zip(pairs, shapes, strict=True):
        builder.operator("RESHAPE", [source], [target], newShape=np.array(shape, np.int32))
    operands = [target for _, target in pairs]
    anchors = rng.integers(20, 250, (BOXES, 4)).astype(np.uint8)
    if is_float:
        floats = [builder.tensor(shape, np.float32) for shape in shapes]
        for source, target in zip(operands, floats, strict=True):
            builder.operator("DEQUANTIZE", [source], [target])
        values = (anchors * np.float32(0.00607)).astype(np.float32)
        operands = [*floats, builder.tensor((BOXES, 4), np.float32, data=values)]
    else:
        constant = builder.tensor((BOXES, 4), np.uint8, scale=0.006, zero_point=3, data=anchors)
        operands.append(constant)
    kept = settings["max_detections"]
    known = (1, kept, 4), (1, kept), (1, kept), (1,)
    outputs = [builder.tensor(shape if has_shapes else (), np.float32) for shape in known]
    builder.operator(DETECTION, operands, outputs, **settings)
    if options is not None:
        builder.operators[-1].custom_options = options
    # Few different scores: the order of equal ones counts, too.
    drawn = rng.integers(0, 256, shapes[0]), rng.integers(0, 12, shapes[1]) * 23
    model = builder.build([source for source, _ in pairs], outputs)
    return oracle.Case(model, tuple((v + lowest).astype(dtype).reshape(1, -1) for v in drawn))
