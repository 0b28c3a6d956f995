"""Models that break a support rule of layers with tensors of their own, or of wide integers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS
from tests.support.models.one_operator import SOFTMAX_OUT, unary
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["BROKEN_RECURRENT"]

_LSTM, _SVDF = "UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF"
_ABSENT = -1
Changes = dict[int, dict[str, Any] | None]
"""Of inputs, by position; None leaves one out."""


def _constant(shape: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    dtype = changes.get("dtype", np.int8)
    return {"shape": shape, "scale": 0.01, "data": np.zeros(shape, dtype), **changes}


def _bias(count: int, **changes: Any) -> dict[str, Any]:
    return _constant((count,), **{"dtype": np.int32, **changes})


def _state(shape: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    return {"shape": shape, "scale": 0.01, "is_variable": True, **changes}


def _model(
    code: str,
    inputs: dict[int, dict[str, Any]],
    changes: Changes,
    output: dict[str, Any],
    *,
    count: int,
    uses: int = 1,
    **options: Any,
) -> bytes:
    """Build a model of such an operator, or of several with the same inputs."""
    builder = ModelBuilder("recurrent")
    indices = [_ABSENT] * count
    for position in sorted({*inputs, *changes}):
        change = changes.get(position, {})
        if change is None:
            continue
        fields = {"name": f"i{position}", **inputs.get(position, {}), **change}
        is_variable = fields.pop("is_variable", False)
        indices[position] = builder.tensor(fields.pop("shape"), **fields)
        builder.tensors[indices[position]].is_variable = is_variable
    outputs = []
    for _ in range(uses):
        outputs.append(builder.tensor(**{"name": "y", **output}))
        builder.operator(code, indices, [outputs[-1]], **options)
    return builder.build([indices[0]], outputs)


def _lstm(
    changes: Changes | None = None,
    output: tuple[int, ...] = (1, 2, 4),
    activation: str = "TANH",
    count: int = 24,
    uses: int = 1,
    scale: float = 0.01,
    kind: Any = np.int8,
    gives: Any = None,
) -> bytes:
    inputs: dict[int, dict[str, Any]] = {0: {"shape": (1, 2, 3), "scale": 0.01}}
    inputs |= {position: _constant((4, 3)) for position in range(1, 5)}
    inputs |= {position: _constant((4, 4)) for position in range(5, 9)}
    inputs |= {position: _bias(4) for position in range(12, 16)}
    inputs[18] = _state((1, 4), scale=scale)
    inputs[19] = _state((1, 4), dtype=np.int16, scale=2.0**-12)
    if kind is np.int16:
        inputs |= {position: _bias(4, dtype=np.int64) for position in range(12, 16)}
        for position in (0, 18):
            inputs[position]["dtype"] = kind
    kept = {position: fields for position, fields in inputs.items() if position < count}
    return _model(
        *(_LSTM, kept, changes or {}, {"shape": output, "scale": 0.01, "dtype": gives or kind}),
        count=count,
        uses=uses,
        fusedActivationFunction=ACTIVATIONS[activation],
    )


def _short_lstm(changes: Changes | None = None) -> bytes:
    return _lstm(changes, kind=np.int16)


def _svdf(
    changes: Changes | None = None, output: dict[str, Any] | None = None, rank: int = 1
) -> bytes:
    inputs: dict[int, dict[str, Any]] = {
        0: {"shape": (1, 3), "scale": 0.01},
        1: _constant((4, 3)),
        2: _constant((4, 5)),
        3: _bias(4, scale=0.0001),
        4: _state((1, 20)),
    }
    fields = {"shape": (1, 4), "scale": 0.01, **(output or {})}
    return _model(_SVDF, inputs, changes or {}, fields, count=5, rank=rank)


def _quantize(source: Any, output: Any) -> bytes:
    return unary("QUANTIZE", source, output)


_SHORT: dict[str, Any] = {"dtype": np.int16}
_INT: dict[str, Any] = {"dtype": np.int32}
_LSTM_0, _SVDF_0 = f"operator 0 {_LSTM}", f"operator 0 {_SVDF}"

BROKEN_RECURRENT: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: unary("BIDIRECTIONAL_SEQUENCE_LSTM", {}, {}),
        (
            "operator 0 BIDIRECTIONAL_SEQUENCE_LSTM: layer must be two "
            "UNIDIRECTIONAL_SEQUENCE_LSTM, one of them between two REVERSE_V2: TensorFlow Lite "
            "Micro, whose results are the right ones, has no kernel for both ways"
        ),
    ),
    (partial(_lstm, count=20), f"{_LSTM_0}: number of inputs must be 24, not 20"),
    (
        partial(_lstm, {10: _constant((4,))}),
        f"{_LSTM_0}: layer must have no peephole (inputs 9 to 11)",
    ),
    (
        partial(_lstm, {16: _constant((4, 4))}),
        f"{_LSTM_0}: layer must have no projection (inputs 16 to 17)",
    ),
    (
        partial(_lstm, {23: _constant((4,))}),
        f"{_LSTM_0}: layer must have no layer norm (inputs 20 to 23)",
    ),
    (partial(_lstm, {1: None, 5: None}), f"{_LSTM_0}: inputs 1, 5 must be present"),
    (
        partial(_lstm, {18: {"data": np.zeros((1, 4), np.int8), "is_variable": False}}),
        f"{_LSTM_0} (i18): state must be a variable tensor",
    ),
    (
        partial(_lstm, uses=2),
        "; ".join(
            f"operator {number} {_LSTM} (i{position}): state must belong to one operator alone"
            for number, position in ((0, 18), (0, 19))
        ),
    ),
    (
        partial(_lstm, {2: {"dtype": np.int16, "data": np.zeros((4, 3), np.int16)}}),
        f"{_LSTM_0} (i2): input 2 must be int8, not int16",
    ),
    (partial(_lstm, {8: {"scale": None}}), f"{_LSTM_0} (i8): input 8 must have a scale, not none"),
    (
        partial(_lstm, {8: {"scale": [0.1] * 4}}),
        f"{_LSTM_0} (i8): input 8 must have one scale, finite and more than 0",
    ),
    (partial(_lstm, {8: {"zero_point": 3}}), f"{_LSTM_0} (i8): input 8's zero point must be 0"),
    (
        partial(_svdf, {2: _constant((4, 5), dtype=np.int16)}),
        f"{_SVDF_0} (i2): input 2 must be int8, not int16",
    ),
    (
        partial(_lstm, {18: {"dtype": np.int16}}),
        f"{_LSTM_0} (i18): state must be int8, not int16",
    ),
    (
        partial(_lstm, gives=np.int16),
        f"{_LSTM_0}: input and output must have one type, not int8 and int16",
    ),
    (
        partial(_short_lstm, {0: {"zero_point": 3}}),
        f"{_LSTM_0} (i0): input's zero point must be 0, not 3",
    ),
    (
        partial(_short_lstm, {18: {"dtype": np.int8}}),
        f"{_LSTM_0} (i18): state must be int16, not int8",
    ),
    (
        partial(_short_lstm, {18: {"zero_point": 1}}),
        f"{_LSTM_0} (i18): state's zero point must be 0, not 1",
    ),
    (
        partial(_short_lstm, {12: _bias(4)}),
        f"{_LSTM_0} (i12): input 12 must be int64, not int32",
    ),
    (
        partial(_short_lstm, {2: {"scale": 8.0}}),
        f"{_LSTM_0} (i2): scale of products for the forget gate must be less than 2**-5",
    ),
    (
        partial(_short_lstm, {14: {"data": np.full(4, -(2**47))}}),
        f"{_LSTM_0} (i14): bias must be less than 140737475772416, not 140737488355328",
    ),
    (
        partial(_lstm, {19: {"scale": 0.001}}),
        (
            f"{_LSTM_0} (i19): cell state's scale must be a power of two, 2**-15 to 1, not "
            f"{float(np.float32(0.001))}"
        ),
    ),
    (
        partial(_lstm, {19: {"zero_point": 1}}),
        f"{_LSTM_0} (i19): state's zero point must be 0, not 1",
    ),
    (
        partial(_lstm, {18: {"scale": None}}),
        f"{_LSTM_0} (i18): state must have one scale and zero point",
    ),
    (
        partial(_svdf, {4: {"scale": 0.0}}),
        f"{_SVDF_0} (i4): state's scale must be finite and more than 0, not 0.0",
    ),
    (partial(_lstm, activation="RELU"), f"{_LSTM_0}: activation must be TANH, not RELU"),
    (
        partial(_lstm, {0: {"shape": (2, 3)}}),
        f"{_LSTM_0} (i0): input must have 3 dimensions, not [2, 3]",
    ),
    (
        partial(_lstm, output=(1, 3, 4)),
        f"{_LSTM_0} (y): output must be [1, 2] and the units, not [1, 3, 4]",
    ),
    (
        partial(_lstm, {5: _constant((4, 3))}),
        f"{_LSTM_0} (i5): input 5 must be [4, 4], not [4, 3]",
    ),
    (partial(_lstm, {13: _bias(5)}), f"{_LSTM_0} (i13): input 13 must have 4 values, not 5"),
    (
        partial(_lstm, {1: {"scale": 2.0**26}}),
        f"{_LSTM_0} (i1): scale of products for the input gate must be less than 2**18",
    ),
    (
        partial(_lstm, scale=2.0**-31),
        f"{_LSTM_0} (i18): scale must be more than 2**-30, not {2.0**-31}",
    ),
    (
        partial(_svdf, {0: {"shape": (1, 1, 3)}}),
        f"{_SVDF_0} (i0): input and weights must have 2 dimensions, not [1, 1, 3]",
    ),
    (partial(_svdf, rank=3), f"{_SVDF_0}: rank must divide the 4 filters, not be 3"),
    (
        partial(_svdf, {4: {"shape": (1, 19)}}),
        f"{_SVDF_0} (i4): state must be [1, 20], not [1, 19]",
    ),
    (
        partial(_svdf, output={"scale": 2.0**-44}),
        (
            f"{_SVDF_0} (y): scale of time must be less than 2**30, not "
            f"{float(np.float32(0.01) * np.float32(0.01) / np.float32(2.0**-44))}"
        ),
    ),
    (
        partial(_svdf, {3: {"scale": 0.1}}),
        f"{_SVDF_0} (i3): bias scale must be 9.99999975e-05, not 0.100000001",
    ),
    (
        partial(_quantize, {}, {**_SHORT, "scale": None}),
        "operator 0 QUANTIZE (y): output must have one scale and zero point",
    ),
    (
        partial(_quantize, {**_SHORT, "scale": 0.0}, {}),
        "operator 0 QUANTIZE (x): input's scale must be finite and more than 0, not 0.0",
    ),
    (
        partial(_quantize, {**_SHORT, "zero_point": 40000}, {}),
        "operator 0 QUANTIZE (x): input's zero point must be -32768 to 32767, not 40000",
    ),
    (
        partial(_quantize, _INT, _INT),
        "operator 0 QUANTIZE (y): output must be int8 or int16, not int32",
    ),
    (
        partial(_quantize, {"dtype": np.float32, "scale": None}, _INT),
        "operator 0 QUANTIZE (x): input must be a signed integer, not float32",
    ),
    (
        partial(_quantize, {"dtype": np.uint8, "zero_point": 128}, _SHORT),
        "operator 0 QUANTIZE (x): input must be a signed integer, not uint8",
    ),
    (
        partial(_quantize, {**_SHORT, "scale": 2.0**20}, {"scale": 2.0**-10}),
        (
            "operator 0 QUANTIZE (y): input scale / output scale must be less than 2**30, not "
            f"{2.0**30}"
        ),
    ),
    (
        partial(unary, "SOFTMAX", {}, {**SOFTMAX_OUT, **_SHORT}, beta=1.0),
        (
            "operator 0 SOFTMAX (y): output scale and zero point must be 1.52587890625e-05 and "
            "-32768, not 0.00390625 and -128"
        ),
    ),
]
"""What builds each model, and its refusal."""
