"""Writes .tflite models of one subgraph.

builder = ModelBuilder("two numbers")
x = builder.tensor((1, 4, 4, 3), scale=0.1, zero_point=-5)
...
builder.operator("ADD", [x, y], [z], fusedActivationFunction=1)
model = builder.build(inputs=[x, y], outputs=[z])
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import flatbuffers.flexbuffers
import numpy as np
import tflite
from numpy.typing import DTypeLike, NDArray

__all__ = ["ACTIVATIONS", "PADDINGS", "ModelBuilder", "OperatorRecord", "TensorRecord"]

PADDINGS = {"SAME": 0, "VALID": 1}
ACTIVATIONS = {"NONE": 0, "RELU": 1, "RELU_N1_TO_1": 2, "RELU6": 3, "TANH": 4}
CUSTOM = "CUSTOM:"
"""Before the name of a custom operator."""
PLACEHOLDER = 127
"""In the deprecated field of greater operator codes."""

_TYPES = {
    np.dtype(np.float32): tflite.TensorType.FLOAT32,
    np.dtype(np.float16): tflite.TensorType.FLOAT16,
    np.dtype(np.int32): tflite.TensorType.INT32,
    np.dtype(np.uint8): tflite.TensorType.UINT8,
    np.dtype(np.int64): tflite.TensorType.INT64,
    np.dtype(np.bool_): tflite.TensorType.BOOL,
    np.dtype(np.int16): tflite.TensorType.INT16,
    np.dtype(np.int8): tflite.TensorType.INT8,
}
_OPTIONS = {
    name.removesuffix("Options").lower(): name
    for name in vars(tflite.BuiltinOptions)
    if name.endswith("Options")
}
"""Tables of options, most of which are called like their operator."""
_SHARED_OPTIONS = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), "Pool2DOptions"),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"), "ReducerOptions"),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimumOptions"),
    "L2_NORMALIZATION": "L2NormOptions",
}
_SCHEMA_VERSION = 3
_IDENTIFIER = b"TFL3"
_ALIGNMENT = 16
"""Of constants, in bytes: interpreters read them in place."""
_ROOM = 1 << 16
"""Bytes for what is not a constant; the flatbuffer grows if that is too little."""


@dataclass
class TensorRecord:
    """What the file says of a tensor.

    Parameters
    ----------
    name : str
        Its name.
    type : int
        Of the schema's ``TensorType``.
    shape, shape_signature : tuple of int or None
        None is left out.
    scales : ndarray or None
        float32; None if not quantized.
    zero_points : ndarray or None
        int64, as many.
    axis : int
        That several scales belong to.
    data : bytes or None
        Of a constant, little-endian.
    is_variable, is_sparse : bool
        Whether the tensor keeps its values between inferences, and whether it is sparse.
    """

    name: str
    type: int
    shape: tuple[int, ...] | None
    shape_signature: tuple[int, ...] | None = None
    scales: NDArray[np.float32] | None = None
    zero_points: NDArray[np.int64] | None = None
    axis: int = 0
    data: bytes | None = None
    is_variable: bool = False
    is_sparse: bool = False


@dataclass
class OperatorRecord:
    """What the file says of an operator.

    Parameters
    ----------
    code : tuple of str and int
        Name and version.
    inputs, outputs : tuple of int
        Indices of tensors.
    table : str
        The schema's table of its options; empty if there is none.
    options : dict
        Values of that table's fields.
    custom_options : bytes
        Of a custom operator.
    """

    code: tuple[str, int]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    table: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    custom_options: bytes = b""


class ModelBuilder:
    """Collects tensors and operators of one subgraph.

    Parameters
    ----------
    description : str
        Stored in the model.

    Attributes
    ----------
    tensors : list of TensorRecord
        In the order of their indices.
    operators : list of OperatorRecord
        In order of execution.
    """

    def __init__(self, description: str) -> None:
        self._description = description
        self.tensors: list[TensorRecord] = []
        self.operators: list[OperatorRecord] = []

    def tensor(
        self,
        shape: Sequence[int] | None,
        dtype: DTypeLike = np.int8,
        *,
        name: str | None = None,
        scale: float | Sequence[float] | NDArray[Any] | None = None,
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
        axis : int
            See ``scale``.
        data : ndarray or bytes, optional
            Makes the tensor constant.
        shape_signature : sequence of int, optional
            -1 marks dynamic dimensions.
        type_code : int, optional
            The schema's type number, instead of that of ``dtype``.
        """
        little_endian = np.dtype(dtype).newbyteorder("<")
        record = TensorRecord(
            name=name or f"t{len(self.tensors)}",
            type=_TYPES[np.dtype(dtype)] if type_code is None else type_code,
            shape=None if shape is None else tuple(int(size) for size in shape),
            shape_signature=None if shape_signature is None else tuple(shape_signature),
            axis=axis,
        )
        if scale is not None:
            record.scales = np.atleast_1d(np.asarray(scale, np.float32))
            zero_points = np.asarray(zero_point, np.int64)
            record.zero_points = np.broadcast_to(zero_points, record.scales.shape).copy()
        if data is not None:
            is_raw = isinstance(data, bytes)
            record.data = bytes(data) if is_raw else np.asarray(data, little_endian).tobytes()
        self.tensors.append(record)
        return len(self.tensors) - 1

    def operator(
        self,
        code: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        *,
        version: int = 1,
        **options: Any,
    ) -> None:
        """Add an operator.

        Parameters
        ----------
        code : str
            TFLite's name, or ``CUSTOM:`` and the name of a custom operator.
        inputs, outputs : sequence of int
            Tensor indices; -1 for an optional input that is absent.
        version : int
            That the file asks for.
        **options
            Fields of the operator's options by their names in the schema, such as ``strideW``; of
            a custom operator the items of its FlexBuffer.
        """
        operands = tuple(int(i) for i in inputs), tuple(int(i) for i in outputs)
        record = OperatorRecord((code, version), *operands)
        if code.startswith(CUSTOM):
            if options:
                record.custom_options = bytes(flatbuffers.flexbuffers.Dumps(options))
        else:
            record.table = _SHARED_OPTIONS.get(code) or _OPTIONS.get(
                code.replace("_", "").lower(), ""
            )
            for key in options:
                if not hasattr(tflite, _setter(record.table, key)):
                    raise ValueError(
                        f"option of {code} must be a field of {record.table}, not {key}"
                    )
            record.options = dict(options)
        self.operators.append(record)

    def code_fields(self, name: str, code: int) -> tuple[int, int]:
        """Return an operator's code for the field of 32 bits and for the deprecated one of 8.

        Parameters
        ----------
        name : str
            Of the operator.
        code : int
            Of the schema's ``BuiltinOperator``.
        """
        del name
        return code, min(code, PLACEHOLDER)

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
        constants = sum(len(tensor.data or b"") for tensor in self.tensors)
        fbb = flatbuffers.Builder(constants + _ROOM)
        # Buffer 0 is empty by definition: tensors without constant data name it.
        buffers, places = [_buffer(fbb, b"")], []
        for tensor in self.tensors:
            places.append(0 if tensor.data is None else len(buffers))
            if tensor.data is not None:
                buffers.append(_buffer(fbb, tensor.data))
        codes = list(dict.fromkeys(operator.code for operator in self.operators))
        subgraphs = self.subgraphs(fbb, codes, places, inputs, outputs)
        defined = [_signature(fbb, key, *maps) for key, maps in (signatures or {}).items()]
        model = _table(
            fbb,
            "Model",
            Version=_SCHEMA_VERSION,
            OperatorCodes=_offsets(fbb, [self._operator_code(fbb, *code) for code in codes]),
            Subgraphs=_offsets(fbb, subgraphs),
            Description=fbb.CreateString(self._description),
            Buffers=_offsets(fbb, buffers),
            SignatureDefs=_offsets(fbb, defined) if defined else None,
        )
        fbb.Finish(model, _IDENTIFIER)
        return bytes(fbb.Output())

    def subgraphs(
        self,
        fbb: Any,
        codes: Sequence[tuple[str, int]],
        places: Sequence[int],
        inputs: Sequence[int],
        outputs: Sequence[int],
    ) -> list[int]:
        """Write the subgraphs and return their offsets; there is one.

        Parameters
        ----------
        fbb : flatbuffers.Builder
            Receives them.
        codes : sequence of tuple of str and int
            Name and version of each operator code of the file.
        places : sequence of int
            The buffer of each tensor.
        inputs, outputs : sequence of int
            Tensor indices.
        """
        pairs = zip(self.tensors, places, strict=True)
        return [
            _table(
                fbb,
                "SubGraph",
                Tensors=_offsets(fbb, [_tensor(fbb, *pair) for pair in pairs]),
                Inputs=_vector(fbb, inputs, np.int32),
                Outputs=_vector(fbb, outputs, np.int32),
                Operators=_offsets(
                    fbb, [_operator(fbb, one, codes.index(one.code)) for one in self.operators]
                ),
                Name=fbb.CreateString("main"),
            )
        ]

    def _operator_code(self, fbb: Any, name: str, version: int) -> int:
        code, deprecated = self.code_fields(
            name, getattr(tflite.BuiltinOperator, name.partition(":")[0])
        )
        is_custom = name.startswith(CUSTOM)
        return _table(
            fbb,
            "OperatorCode",
            DeprecatedBuiltinCode=deprecated,
            CustomCode=fbb.CreateString(name.removeprefix(CUSTOM)) if is_custom else None,
            Version=version,
            BuiltinCode=code,
        )


def _table(fbb: Any, kind: str, /, **fields: Any) -> int:
    """Write a table of the schema and return its offset; fields of None are left out."""
    getattr(tflite, f"{kind}Start")(fbb)
    for key, value in fields.items():
        if value is not None:
            getattr(tflite, f"{kind}Add{key}")(fbb, value)
    offset: int = getattr(tflite, f"{kind}End")(fbb)
    return offset


def _setter(table: str, key: str) -> str:
    return f"{table}Add{key[:1].upper()}{key[1:]}"


def _vector(fbb: Any, values: Any, dtype: DTypeLike) -> int:
    offset: int = fbb.CreateNumpyVector(np.asarray(values, np.dtype(dtype).newbyteorder("<")))
    return offset


def _offsets(fbb: Any, offsets: Sequence[int]) -> int:
    fbb.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        fbb.PrependUOffsetTRelative(offset)
    end: int = fbb.EndVector()
    return end


def _buffer(fbb: Any, data: bytes) -> int:
    if not data:
        return _table(fbb, "Buffer")
    fbb.Prep(_ALIGNMENT, len(data))
    return _table(fbb, "Buffer", Data=fbb.CreateNumpyVector(np.frombuffer(data, np.uint8)))


def _tensor(fbb: Any, tensor: TensorRecord, buffer: int) -> int:
    signature = tensor.shape_signature
    return _table(
        fbb,
        "Tensor",
        Shape=None if tensor.shape is None else _vector(fbb, tensor.shape, np.int32),
        Type=tensor.type,
        Buffer=buffer,
        Name=fbb.CreateString(tensor.name),
        Quantization=_quantization(fbb, tensor),
        IsVariable=tensor.is_variable,
        Sparsity=_table(fbb, "SparsityParameters") if tensor.is_sparse else None,
        ShapeSignature=None if signature is None else _vector(fbb, signature, np.int32),
        HasRank=tensor.shape is not None,
    )


def _quantization(fbb: Any, tensor: TensorRecord) -> int | None:
    if tensor.scales is None:
        return None
    return _table(
        fbb,
        "QuantizationParameters",
        Scale=_vector(fbb, tensor.scales, np.float32),
        ZeroPoint=_vector(fbb, tensor.zero_points, np.int64),
        QuantizedDimension=tensor.axis,
    )


def _operator(fbb: Any, operator: OperatorRecord, code_index: int) -> int:
    raw = operator.custom_options
    custom = fbb.CreateNumpyVector(np.frombuffer(raw, np.uint8)) if raw else None
    options = None
    if operator.table:
        values = {
            key[:1].upper() + key[1:]: _vector(fbb, value, np.int32) if np.ndim(value) else value
            for key, value in operator.options.items()
        }
        options = _table(fbb, operator.table, **values)
    return _table(
        fbb,
        "Operator",
        OpcodeIndex=code_index,
        Inputs=_vector(fbb, operator.inputs, np.int32),
        Outputs=_vector(fbb, operator.outputs, np.int32),
        BuiltinOptionsType=getattr(tflite.BuiltinOptions, operator.table or "NONE"),
        BuiltinOptions=options,
        CustomOptions=custom,
    )


def _signature(fbb: Any, key: str, inputs: Mapping[str, int], outputs: Mapping[str, int]) -> int:
    def maps(names: Mapping[str, int]) -> int:
        entries = [
            _table(fbb, "TensorMap", Name=fbb.CreateString(name), TensorIndex=index)
            for name, index in names.items()
        ]
        return _offsets(fbb, entries)

    return _table(
        fbb,
        "SignatureDef",
        Inputs=maps(inputs),
        Outputs=maps(outputs),
        SignatureKey=fbb.CreateString(key),
        SubgraphIndex=0,
    )
