"""Lowering of TFLite_Detection_PostProcess, where the device computes it."""

import numpy as np

from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.memory_sharing import MemorySharing
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.lower.tables import ALL_BYTES
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.detectors import detection_of
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.detection.boxes import CORNERS, dequantized
from kiwicha.kernels.detection import DetectedBoxes

__all__ = ["lower_detection"]

_FLOAT_BYTES = 4


def lower_detection(graph: Graph, operator: Operator, sharing: MemorySharing) -> Layer:
    """Return the layer: a kernel call for all outputs, and a copy for each of them."""
    detection = detection_of(graph, operator)
    settings = detection.settings
    encodings, scores = (graph.input(operator, position) for position in range(2))
    real = dequantized(
        ALL_BYTES, detection.box_scale, detection.box_zero_point - encodings.shift
    ).astype(np.float64)
    relative = real / np.array(settings.scales, np.float32)[:, None]
    factors = np.concatenate([relative[:2], 0.5 * np.exp(relative[2:])])
    points = dequantized(
        ALL_BYTES, detection.score_scale, detection.score_zero_point - scores.shift
    )
    counting = ALL_BYTES[points >= np.float32(settings.score_threshold)]
    own = sharing.temporary(operator, (CORNERS + 2) * settings.max_detections + 1)
    copies, first = [], 0
    for index in operator.outputs:
        count = graph.tensors[index].elements
        whole = View.of((count,))
        copy = byte_copy(whole, whole, _FLOAT_BYTES)
        copies.append(
            Layer(
                operator.index,
                operator.name,
                kernel=Kernel.COPY,
                params=copy.params,
                tensors={"input": own, "output": index},
                ranges={"input": (first * _FLOAT_BYTES, copy.source[1]), "output": copy.target},
            )
        )
        first += count
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.DETECTION,
        params=DetectedBoxes(
            *(Ref(), Ref(), Ref(), Ref(), Ref(), Ref(), Ref()),
            boxes=encodings.shape[1],
            box_bytes=encodings.shape[2],
            columns=scores.shape[2],
            first=scores.shape[2] - settings.classes,
            classes=settings.classes,
            most=settings.max_detections,
            per_class=settings.per_class or 0,
            threshold=int(counting.min(initial=128)),
            overlap=float(np.float32(settings.overlap_threshold)),
        ),
        tensors={"input": encodings.index, "scores": scores.index, "output": own},
        constants={"anchors": detection.anchors, "factors": factors, "points": points},
        more=tuple(copies),
    )
