"""The last step of a detector for those who do it in C: anchors, options, and what it reads."""

from collections.abc import Iterator
from typing import Any

from kiwicha.detection.boxes import DETECTION_NAME, Detection

__all__ = ["detection_files", "detection_metadata", "detection_text"]


def detection_metadata(name: str, detection: Detection) -> dict[str, Any]:
    """Return what ``metadata.json`` says of the step, with the file of its anchors."""
    return {
        "operator": DETECTION_NAME,
        "box_encodings": {"output": 0, **_quantized(detection.box_scale, detection.box_zero_point)},
        "scores": {"output": 1, **_quantized(detection.score_scale, detection.score_zero_point)},
        "anchors": {"file": f"model/{name}_detection.c", "shape": list(detection.anchors.shape)},
        "settings": _settings(detection),
    }


def detection_text(detection: Detection) -> str:
    """Return the step as a line of a listing."""
    settings = " ".join(f"{key}={value:g}" for key, value in _settings(detection).items())
    return (
        f"last step, on the host: {DETECTION_NAME} of output 0, box encodings, and output 1, "
        f"scores; {len(detection.anchors)} anchors, {settings}"
    )


def detection_files(name: str, symbol: str, detection: Detection) -> dict[str, bytes]:
    """Return anchors and options as a C source and its header.

    Parameters
    ----------
    name : str
        Of the model, in file names.
    symbol : str
        What C names begin with.
    detection : Detection
        The step.
    """
    return {
        f"{name}_detection.h": "\n".join(_header(symbol, detection)).encode(),
        f"{name}_detection.c": "\n".join(_source(name, symbol, detection)).encode(),
    }


def _quantized(scale: float, zero_point: int) -> dict[str, Any]:
    return {"scale": scale, "zero_point": zero_point}


def _settings(detection: Detection) -> dict[str, float]:
    settings = detection.settings
    y, x, height, width = settings.scales
    regular = {}
    if settings.per_class is not None:
        regular = {"use_regular_nms": 1, "detections_per_class": settings.per_class}
    return {
        "max_detections": settings.max_detections,
        "max_classes_per_detection": settings.max_classes,
        "num_classes": settings.classes,
        "nms_score_threshold": settings.score_threshold,
        "nms_iou_threshold": settings.overlap_threshold,
        "y_scale": y,
        "x_scale": x,
        "h_scale": height,
        "w_scale": width,
        **regular,
    }


def _header(symbol: str, detection: Detection) -> Iterator[str]:
    prefix = symbol.upper()
    yield f"/** {DETECTION_NAME} of outputs 0 (box encodings) and 1 (scores). */"
    yield f"#ifndef KIWICHA_MODEL_{prefix}_DETECTION_H"
    yield f"#define KIWICHA_MODEL_{prefix}_DETECTION_H"
    yield ""
    for key, value in _settings(detection).items():
        text = f"{value}u" if isinstance(value, int) else f"{value:.9e}f"
        yield f"#define {prefix}_{key.upper()} {text}"
    yield f"#define {prefix}_ANCHORS {len(detection.anchors)}u"
    yield ""
    yield "#ifdef __cplusplus"
    yield 'extern "C" {'
    yield "#endif"
    yield ""
    yield "/** Centre (y, x), height and width of each, in parts of the picture. */"
    yield f"extern const float {symbol}_anchors[{prefix}_ANCHORS][4];"
    yield ""
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield ""
    yield "#endif"
    yield ""


def _source(name: str, symbol: str, detection: Detection) -> Iterator[str]:
    yield f'#include "{name}_detection.h"'
    yield ""
    yield f"const float {symbol}_anchors[{symbol.upper()}_ANCHORS][4] = {{"
    for anchor in detection.anchors.tolist():
        yield f"    {{{', '.join(f'{value:.9e}f' for value in anchor)}}},"
    yield "};"
    yield ""
