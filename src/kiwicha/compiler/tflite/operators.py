"""What is known of every TFLite operator that is supported: one record each.

Other front ends' operators would have records of their own; the rules that need more than a table
are in `kiwicha.compiler.check`.
"""

from typing import Any

from kiwicha.compiler.tflite.glue_operators import (
    GLUE_OPERATORS,
    PAIRS_OF_NUMBERS,
    SHORTS_TOO,
)
from kiwicha.compiler.tflite.operator_kinds import (
    CARRIED_TYPES,
    REDUCER_OPTIONS,
    Family,
    OperatorKind,
    OptionsTable,
)
from kiwicha.compiler.tflite.tensor import TensorType

__all__ = [
    "BYTE_TABLE",
    "CARRIED_TYPES",
    "OPERATORS",
    "Family",
    "OperatorKind",
    "OptionsTable",
    "of_family",
]

_FUSED = {"activation": "FusedActivationFunction"}
_STRIDES = {"padding": "Padding", "stride_height": "StrideH", "stride_width": "StrideW"}
_CONV = {
    **_STRIDES,
    "dilation_height": "DilationHFactor",
    "dilation_width": "DilationWFactor",
    **_FUSED,
}
_BIAS = {"bias_type": "QuantizedBiasType"}
_POOL = {**_STRIDES, "kernel_height": "FilterHeight", "kernel_width": "FilterWidth", **_FUSED}
_AXIS = {"axis": "Axis"}
_BLOCK = {"block_size": "BlockSize"}
_RESIZE = {"align_corners": "AlignCorners", "half_pixel_centers": "HalfPixelCenters"}
BYTE_TABLE = "BYTE_TABLE"
"""A function of one number that another front end gives as its 256 results; TFLite has none."""

_TWO = ("input 1", "input 2")
_SUM: dict[str, Any] = {"activations": _TWO, **PAIRS_OF_NUMBERS}
_WEIGHTED = Family.WEIGHTED
_ARITHMETIC = Family.PAIR | Family.BROADCAST
_REDUCTION: dict[str, Any] = {
    "family": Family.REDUCTION,
    "options": REDUCER_OPTIONS,
    "constants": {1: "axes"},
}
_POSITION = OperatorKind(
    family=Family.POSITION,
    types={"output": (TensorType.INT32, TensorType.INT64)},
    constants={1: "axis"},
)

OPERATORS: dict[str, OperatorKind] = {
    "ABS": OperatorKind(family=Family.UNARY, is_signed=True),
    "ADD": OperatorKind(
        family=_ARITHMETIC,
        **_SUM,
        options=OptionsTable("AddOptions", _FUSED, is_required=False),
    ),
    "ARG_MAX": _POSITION,
    "ARG_MIN": _POSITION,
    "ASSIGN_VARIABLE": OperatorKind(
        family=Family.VARIABLE, activations=(), extra_inputs=2, outputs=0
    ),
    "AVERAGE_POOL_2D": OperatorKind(
        family=Family.POOL, options=OptionsTable("Pool2DOptions", _POOL), **SHORTS_TOO
    ),
    "BATCH_MATMUL": OperatorKind(
        activations=_TWO,
        options=OptionsTable(
            "BatchMatMulOptions",
            {"is_first_adjoint": "AdjX", "is_second_adjoint": "AdjY"},
            is_required=False,
        ),
        is_signed=True,
    ),
    "BATCH_TO_SPACE_ND": OperatorKind(family=Family.MOVE, constants={1: "block shape", 2: "crops"}),
    "BROADCAST_TO": OperatorKind(family=Family.MOVE, constants={1: "shape"}),
    BYTE_TABLE: OperatorKind(family=Family.UNARY),
    "CALL_ONCE": OperatorKind(family=Family.VARIABLE, activations=(), outputs=0),
    "CONCATENATION": OperatorKind(
        family=Family.MOVE | Family.JOIN,
        options=OptionsTable("ConcatenationOptions", {**_FUSED, **_AXIS}),
    ),
    "CONV_2D": OperatorKind(
        family=_WEIGHTED,
        options=OptionsTable("Conv2DOptions", {**_CONV, **_BIAS}),
        extra_inputs=1,
        optional_inputs=1,
        has_int4_weights=True,
        **SHORTS_TOO,
    ),
    "DEPTHWISE_CONV_2D": OperatorKind(
        family=_WEIGHTED,
        options=OptionsTable(
            "DepthwiseConv2DOptions", {**_CONV, "depth_multiplier": "DepthMultiplier"}
        ),
        extra_inputs=1,
        optional_inputs=1,
        has_int4_weights=True,
        **SHORTS_TOO,
    ),
    "DEQUANTIZE": OperatorKind(
        family=Family.UNARY,
        types={"input": (TensorType.INT8, TensorType.INT16), "output": (TensorType.FLOAT32,)},
    ),
    "DEPTH_TO_SPACE": OperatorKind(
        family=Family.MOVE, options=OptionsTable("DepthToSpaceOptions", _BLOCK)
    ),
    "ELU": OperatorKind(family=Family.UNARY, is_signed=True),
    "EXP": OperatorKind(family=Family.UNARY, is_signed=True),
    "EXPAND_DIMS": OperatorKind(family=Family.MOVE | Family.RESHAPE, constants={1: "axis"}),
    "FULLY_CONNECTED": OperatorKind(
        family=_WEIGHTED,
        options=OptionsTable(
            "FullyConnectedOptions",
            {**_FUSED, "weights_format": "WeightsFormat", **_BIAS},
            is_required=False,
        ),
        extra_inputs=1,
        optional_inputs=1,
        has_int4_weights=True,
        **SHORTS_TOO,
    ),
    "GATHER": OperatorKind(
        family=Family.MOVE | Family.INDEXED,
        options=OptionsTable("GatherOptions", {**_AXIS, "batch_dims": "BatchDims"}),
        indices={1: "indices"},
        is_scaled=False,
    ),
    "GELU": OperatorKind(
        family=Family.UNARY, options=OptionsTable("GeluOptions", {"is_approximate": "Approximate"})
    ),
    "HARD_SWISH": OperatorKind(family=Family.UNARY),
    "L2_NORMALIZATION": OperatorKind(options=OptionsTable("L2NormOptions", _FUSED)),
    "LEAKY_RELU": OperatorKind(
        family=Family.UNARY,
        options=OptionsTable("LeakyReluOptions", {"alpha": "Alpha"}),
        **SHORTS_TOO,
    ),
    "LOG": OperatorKind(family=Family.UNARY, is_signed=True),
    "LOGISTIC": OperatorKind(family=Family.UNARY, **SHORTS_TOO),
    "LOG_SOFTMAX": OperatorKind(),
    "MAXIMUM": OperatorKind(family=Family.BROADCAST, **_SUM),
    "MAX_POOL_2D": OperatorKind(
        family=Family.POOL, options=OptionsTable("Pool2DOptions", _POOL), **SHORTS_TOO
    ),
    "MEAN": OperatorKind(**_REDUCTION, **SHORTS_TOO),
    "MINIMUM": OperatorKind(family=Family.BROADCAST, **_SUM),
    "MIRROR_PAD": OperatorKind(
        family=Family.MOVE,
        options=OptionsTable("MirrorPadOptions", {"mode": "Mode"}),
        constants={1: "paddings"},
    ),
    "MUL": OperatorKind(
        family=_ARITHMETIC,
        **_SUM,
        options=OptionsTable("MulOptions", _FUSED, is_required=False),
    ),
    "PACK": OperatorKind(
        family=Family.MOVE | Family.JOIN, options=OptionsTable("PackOptions", _AXIS)
    ),
    "PAD": OperatorKind(family=Family.MOVE, constants={1: "paddings"}),
    "PRELU": OperatorKind(family=Family.BROADCAST, activations=("input", "alpha")),
    "PADV2": OperatorKind(family=Family.MOVE, constants={1: "paddings"}, extra_inputs=1),
    "QUANTIZE": OperatorKind(
        family=Family.UNARY,
        types={
            "input": (TensorType.INT8, TensorType.FLOAT32, TensorType.INT16, TensorType.INT32),
            "output": (TensorType.INT8, TensorType.INT16, TensorType.INT32),
        },
    ),
    "READ_VARIABLE": OperatorKind(
        family=Family.VARIABLE,
        activations=(),
        types={"output": CARRIED_TYPES},
        extra_inputs=1,
    ),
    "REDUCE_MAX": OperatorKind(**_REDUCTION),
    "REDUCE_MIN": OperatorKind(**_REDUCTION),
    "RELU": OperatorKind(family=Family.UNARY, **SHORTS_TOO),
    "RELU6": OperatorKind(family=Family.UNARY, **SHORTS_TOO),
    "RELU_0_TO_1": OperatorKind(family=Family.UNARY),
    "RELU_N1_TO_1": OperatorKind(family=Family.UNARY),
    "RESHAPE": OperatorKind(family=Family.MOVE | Family.RESHAPE, optional_inputs=1),
    "RESIZE_BILINEAR": OperatorKind(
        options=OptionsTable("ResizeBilinearOptions", _RESIZE), constants={1: "size"}
    ),
    "RESIZE_NEAREST_NEIGHBOR": OperatorKind(
        family=Family.MOVE,
        options=OptionsTable("ResizeNearestNeighborOptions", _RESIZE),
        constants={1: "size"},
    ),
    "REVERSE_V2": OperatorKind(family=Family.MOVE, constants={1: "axes"}),
    "RSQRT": OperatorKind(family=Family.UNARY, is_signed=True),
    "SLICE": OperatorKind(family=Family.MOVE, constants={1: "begin", 2: "size"}),
    "SOFTMAX": OperatorKind(
        options=OptionsTable("SoftmaxOptions", {"beta": "Beta"}),
        types=dict.fromkeys(("input", "output"), (TensorType.INT8, TensorType.INT16)),
    ),
    "SPACE_TO_BATCH_ND": OperatorKind(
        family=Family.MOVE, constants={1: "block shape", 2: "paddings"}
    ),
    "SPACE_TO_DEPTH": OperatorKind(
        family=Family.MOVE, options=OptionsTable("SpaceToDepthOptions", _BLOCK)
    ),
    "SPLIT": OperatorKind(family=Family.MOVE | Family.SPLIT, constants={0: "axis"}),
    "SPLIT_V": OperatorKind(family=Family.MOVE | Family.SPLIT, constants={1: "sizes", 2: "axis"}),
    "SQUARED_DIFFERENCE": OperatorKind(family=Family.BROADCAST, activations=_TWO, is_signed=True),
    "SQUEEZE": OperatorKind(family=Family.MOVE | Family.RESHAPE),
    "STRIDED_SLICE": OperatorKind(
        family=Family.MOVE,
        options=OptionsTable(
            "StridedSliceOptions",
            {
                "begin_mask": "BeginMask",
                "end_mask": "EndMask",
                "ellipsis_mask": "EllipsisMask",
                "new_axis_mask": "NewAxisMask",
                "shrink_axis_mask": "ShrinkAxisMask",
                "is_offset": "Offset",
            },
        ),
        constants={1: "begin", 2: "end", 3: "strides"},
    ),
    "SUB": OperatorKind(
        family=_ARITHMETIC,
        **_SUM,
        options=OptionsTable("SubOptions", _FUSED, is_required=False),
    ),
    "SUM": OperatorKind(**_REDUCTION, **SHORTS_TOO),
    "SVDF": OperatorKind(
        options=OptionsTable("SVDFOptions", {"rank": "Rank"}), extra_inputs=4, is_signed=True
    ),
    "TANH": OperatorKind(family=Family.UNARY, **SHORTS_TOO),
    "TILE": OperatorKind(family=Family.MOVE, constants={1: "multiples"}),
    "TRANSPOSE": OperatorKind(family=Family.MOVE, constants={1: "permutation"}),
    "TRANSPOSE_CONV": OperatorKind(
        family=_WEIGHTED,
        options=OptionsTable("TransposeConvOptions", {**_STRIDES, **_FUSED}),
        extra_inputs=1,
        optional_inputs=2,
        **SHORTS_TOO,
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": OperatorKind(
        options=OptionsTable(
            "UnidirectionalSequenceLSTMOptions",
            {**_FUSED, "cell_clip": "CellClip", "is_time_major": "TimeMajor"},
        ),
        optional_inputs=23,
        is_signed=True,
        **SHORTS_TOO,
    ),
    "UNPACK": OperatorKind(
        family=Family.MOVE | Family.SPLIT, options=OptionsTable("UnpackOptions", _AXIS)
    ),
    "VAR_HANDLE": OperatorKind(
        family=Family.VARIABLE, activations=(), types={"output": (TensorType.RESOURCE,)}
    ),
    **GLUE_OPERATORS,
}
"""The supported operators, in the order of documents."""


def of_family(family: Family) -> tuple[str, ...]:
    """Return the names of the operators that belong to a family."""
    return tuple(name for name, kind in OPERATORS.items() if family in kind.family)
