"""Writes .tflite models of a few operators, for tests.

builder = ModelBuilder()
x = builder.tensor((1, 4, 4, 3), scale=0.1, zero_point=-5)
...
builder.operator("ADD", [x, y], [z], fusedActivationFunction=1)
model = builder.build(inputs=[x, y], outputs=[z])
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tests.support import requirements

__all__ = ["ACTIVATIONS", "CODE_FIELDS", "OPERATORS", "PADDINGS", "ModelBuilder"]

OPERATORS = {
    "CONV_2D": "Conv2DOptions",
    "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions",
    "FULLY_CONNECTED": "FullyConnectedOptions",
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "ADD": "AddOptions",
    "SUB": "SubOptions",
    "MUL": "MulOptions",
    "MEAN": "ReducerOptions",
    "SUM": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "ARG_MAX": "ArgMaxOptions",
    "RESIZE_BILINEAR": "ResizeBilinearOptions",
    "TRANSPOSE_CONV": "TransposeConvOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "PRELU": None,
    "PAD": "PadOptions",
    "SOFTMAX": "SoftmaxOptions",
    "RESHAPE": "ReshapeOptions",
    "FLOOR": None,
    "TANH": None,
    "LOGISTIC": None,
    "RELU": None,
    "RELU6": None,
    "HARD_SWISH": "HardSwishOptions",
    "LEAKY_RELU": "LeakyReluOptions",
    "DEQUANTIZE": "DequantizeOptions",
    "QUANTIZE": "QuantizeOptions",
    "CONCATENATION": "ConcatenationOptions",
    "CUMSUM": "CumsumOptions",
    "TRANSPOSE": "TransposeOptions",
    "BATCH_TO_SPACE_ND": "BatchToSpaceNDOptions",
    "DEPTH_TO_SPACE": "DepthToSpaceOptions",
    "EXPAND_DIMS": "ExpandDimsOptions",
    "PACK": "PackOptions",
    "PADV2": "PadV2Options",
    "RESIZE_NEAREST_NEIGHBOR": "ResizeNearestNeighborOptions",
    "SHAPE": "ShapeOptions",
    "SLICE": "SliceOptions",
    "SPACE_TO_BATCH_ND": "SpaceToBatchNDOptions",
    "SPACE_TO_DEPTH": "SpaceToDepthOptions",
    "SPLIT": "SplitOptions",
    "SPLIT_V": "SplitVOptions",
    "SQUEEZE": "SqueezeOptions",
    "STRIDED_SLICE": "StridedSliceOptions",
    "TILE": "TileOptions",
    "UNPACK": "UnpackOptions",
}
"""Operators that can be written, each with the schema's name of its options."""
PADDINGS = {"SAME": 0, "VALID": 1}
ACTIVATIONS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3, "TANH": 4}
CODE_FIELDS = ("both", "builtin_code", "deprecated_builtin_code")
"""Which fields of the file tell an operator's code; TFLite takes the larger of both."""

_TYPES = {
    np.dtype(np.float32): 0,
    np.dtype(np.float16): 1,
    np.dtype(np.int32): 2,
    np.dtype(np.uint8): 3,
    np.dtype(np.int64): 4,
    np.dtype(np.bool_): 6,
    np.dtype(np.int16): 7,
    np.dtype(np.int8): 9,
}
INT4 = 17
"""Type number of int4, which numpy has not."""
_CUSTOM = "CUSTOM:"
_PLACEHOLDER = 127
"""In the deprecated field of greater codes."""
_VERSION = 3
_IDENTIFIER = b"TFL3"


def _schema() -> Any:
    return requirements.module(
        "ai_edge_litert.schema_py_generated", "ai-edge-litert==1.2.0 (Python below 3.13)"
    )


class ModelBuilder:
    """Collects tensors and operators of one subgraph.

    Parameters
    ----------
    description : str
        Stored in the model.
    code_fields : str, optional
        One of `CODE_FIELDS` for all operators. None: each operator has its own, at random, but
        always the same in the same model.
    """

    def __init__(self, description: str = "test model", *, code_fields: str | None = None) -> None:
        self._schema = _schema()
        self._description = description
        self._code_fields = code_fields
        self._buffers = [self._schema.BufferT()]
        self._codes: list[str] = []
        self._tensors: list[Any] = []
        self._operators: list[Any] = []

    def tensor(
        self,
        shape: Sequence[int] | None,
        dtype: DTypeLike = np.int8,
        *,
        name: str | None = None,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] = 0,
        axis: int = 0,
        data: NDArray[Any] | bytes | None = None,
        shape_signature: Sequence[int] | None = None,
        type_code: int | None = None,
    ) -> int:
        """Add a tensor and return its index.

        Parameters
        ----------
        shape : sequence of int or None
            None leaves the shape out of the file.
        dtype : numpy type
            Element type.
        name : str, optional
            ``t0``, ``t1``, ... unless given.
        scale : float or sequence of float, optional
            Quantization; a sequence makes it per channel along ``axis``. None: not quantized.
        zero_point : int or sequence of int
            One for all channels or one per channel.
        data : ndarray or bytes, optional
            Makes the tensor constant.
        shape_signature : sequence of int, optional
            -1 marks dynamic dimensions.
        type_code : int, optional
            The schema's type number, instead of that of ``dtype``.
        """
        tensor = self._schema.TensorT()
        tensor.name = (name or f"t{len(self._tensors)}").encode()
        tensor.type = _TYPES[np.dtype(dtype)] if type_code is None else type_code
        tensor.shape = None if shape is None else np.asarray(shape, np.int32)
        tensor.hasRank = shape is not None
        if shape_signature is not None:
            tensor.shapeSignature = np.asarray(shape_signature, np.int32)
        if scale is not None:
            scales = np.atleast_1d(np.asarray(scale, np.float32))
            quantization = self._schema.QuantizationParametersT()
            quantization.scale = scales
            zero_points = np.asarray(zero_point, np.int64)
            quantization.zeroPoint = np.broadcast_to(zero_points, scales.shape).copy()
            quantization.quantizedDimension = axis
            tensor.quantization = quantization
        tensor.buffer = 0
        if data is not None:
            raw = data if isinstance(data, bytes) else np.ascontiguousarray(data, dtype).tobytes()
            buffer = self._schema.BufferT()
            buffer.data = np.frombuffer(raw, np.uint8)
            tensor.buffer = len(self._buffers)
            self._buffers.append(buffer)
        self._tensors.append(tensor)
        return len(self._tensors) - 1

    def operator(
        self, code: str, inputs: Sequence[int], outputs: Sequence[int], **options: Any
    ) -> None:
        """Add an operator.

        Parameters
        ----------
        code : str
            A key of `OPERATORS`, or ``CUSTOM:`` and the name of a custom operator.
        inputs, outputs : sequence of int
            Tensor indices; -1 for an optional input that is absent.
        **options
            Fields of the operator's options by their names in the schema, such as ``strideW``; of
            a custom operator the items of its FlexBuffer.
        """
        if code not in self._codes:
            self._codes.append(code)
        operator = self._schema.OperatorT()
        operator.opcodeIndex = self._codes.index(code)
        operator.inputs = np.asarray(inputs, np.int32)
        operator.outputs = np.asarray(outputs, np.int32)
        kind = None if code.startswith(_CUSTOM) else OPERATORS[code]
        if code.startswith(_CUSTOM) and options:
            flexbuffers = requirements.module("flatbuffers.flexbuffers", "flatbuffers")
            operator.customOptions = np.frombuffer(flexbuffers.Dumps(options), np.uint8)
        if kind is not None:
            record = getattr(self._schema, f"{kind}T")()
            for key, value in options.items():
                if not hasattr(record, key):
                    raise ValueError(f"option of {code} must be one of {list(vars(record))}")
                setattr(record, key, value)
            operator.builtinOptionsType = getattr(self._schema.BuiltinOptions, kind)
            operator.builtinOptions = record
        self._operators.append(operator)

    def build(
        self,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        signatures: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] | None = None,
    ) -> bytes:
        """Return the model file with these tensors as the model's inputs and outputs.

        Parameters
        ----------
        inputs, outputs : sequence of int
            Tensor indices.
        signatures : mapping, optional
            Tensor indices of inputs and of outputs by name, of each signature by its key.
        """
        flatbuffers = requirements.module("flatbuffers", "flatbuffers")
        schema = self._schema
        model = schema.ModelT()
        model.version = _VERSION
        model.description = self._description.encode()
        model.buffers = self._buffers
        model.operatorCodes = []
        for name in self._codes:
            code = schema.OperatorCodeT()
            code.builtinCode = getattr(schema.BuiltinOperator, name.partition(":")[0])
            code.customCode = name.removeprefix(_CUSTOM) if name.startswith(_CUSTOM) else None
            code.deprecatedBuiltinCode = min(code.builtinCode, _PLACEHOLDER)
            fields = self._fields(name)
            if fields == "builtin_code":
                code.deprecatedBuiltinCode = 0
            elif fields == "deprecated_builtin_code" and code.builtinCode <= _PLACEHOLDER:
                code.builtinCode = 0
            model.operatorCodes.append(code)
        subgraph = schema.SubGraphT()
        subgraph.name = b"main"
        subgraph.tensors = self._tensors
        subgraph.operators = self._operators
        subgraph.inputs = np.asarray(inputs, np.int32)
        subgraph.outputs = np.asarray(outputs, np.int32)
        model.subgraphs = [subgraph]
        model.signatureDefs = [
            self._signature(key, *maps) for key, maps in (signatures or {}).items()
        ] or None
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), _IDENTIFIER)
        return bytes(builder.Output())

    def _fields(self, name: str) -> str:
        shapes = [None if tensor.shape is None else list(tensor.shape) for tensor in self._tensors]
        content = f"{self._description} {self._codes} {shapes} {name}"
        chosen = CODE_FIELDS[zlib.crc32(content.encode()) % len(CODE_FIELDS)]
        return self._code_fields or chosen

    def _signature(self, key: str, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> Any:
        definition = self._schema.SignatureDefT()
        definition.signatureKey = key.encode()
        definition.subgraphIndex = 0
        for field, names in (("inputs", inputs), ("outputs", outputs)):
            entries = []
            for name, index in names.items():
                entry = self._schema.TensorMapT()
                entry.name, entry.tensorIndex = name.encode(), index
                entries.append(entry)
            setattr(definition, field, entries)
        return definition
