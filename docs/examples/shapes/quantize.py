"""Quantize shapes.onnx with some pictures: ``python quantize.py`` writes shapes_int8.onnx."""

from typing import Any

from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quant_pre_process,
    quantize_static,
)
from shapes import draw


class Pictures(CalibrationDataReader):
    """Typical inputs, one after the other."""

    def __init__(self) -> None:
        self._rest = iter(draw(64, seed=1000)[0])

    def get_next(self) -> dict[str, Any] | None:
        """Return the next one, None at the end."""
        picture = next(self._rest, None)
        return None if picture is None else {"picture": picture[None]}


quant_pre_process("shapes.onnx", "shapes_float.onnx", skip_symbolic_shape=True)
quantize_static(
    "shapes_float.onnx",
    "shapes_int8.onnx",
    Pictures(),
    quant_format=QuantFormat.QDQ,
    activation_type=QuantType.QInt8,
    weight_type=QuantType.QInt8,
    per_channel=True,
)
