"""Writes .tflite models of one subgraph.

builder = ModelBuilder("two numbers")
x = builder.tensor((1, 4, 4, 3), scale=0.1, zero_point=-5)
...
builder.operator("ADD", [x, y], [z], fusedActivationFunction=1)
model = builder.build(inputs=[x, y], outputs=[z])
"""

from collections.abc import Mapping, Sequence
from typing import Any

import flatbuffers
import flatbuffers.flexbuffers
import numpy as np
import tflite
from numpy.typing import DTypeLike, NDArray

from kiwicha.tflite_writer.tables import (
    OperatorRecord,
    TensorRecord,
    buffer,
    offset_vector,
    operator_table,
    setter,
    signature_table,
    table,
    tensor_table,
    vector,
)

__all__ = ["ACTIVATIONS", "CUSTOM", "PADDINGS", "PLACEHOLDER", "ModelBuilder"]

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
    np.dtype(np.uint32): tflite.TensorType.UINT32,
    np.dtype(np.uint64): tflite.TensorType.UINT64,
}
_OPTIONS = {
    name.removesuffix("Options").lower(): name
    for name in vars(tflite.BuiltinOptions)
    if name.endswith("Options")
}
"""Tables of options, most of which are called like their operator."""
_SHARED_OPTIONS = {
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"), "Pool2DOptions"),
    **dict.fromkeys(
        ("MEAN", "SUM", "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"),
        "ReducerOptions",
    ),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), "MaximumMinimumOptions"),
    "L2_NORMALIZATION": "L2NormOptions",
}
_SCHEMA_VERSION = 3
_IDENTIFIER = b"TFL3"
_ROOM = 1 << 16
"""Bytes for what is not a constant; the flatbuffer grows if that is too little."""


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
            if options and not record.table:
                raise ValueError(f"{code} must be without options, not with {', '.join(options)}")
            for key in options:
                if not hasattr(tflite, setter(record.table, key)):
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
        buffers, places = [buffer(fbb, b"")], []
        for tensor in self.tensors:
            places.append(0 if tensor.data is None else len(buffers))
            if tensor.data is not None:
                buffers.append(buffer(fbb, tensor.data))
        codes = list(dict.fromkeys(operator.code for operator in self.all_operators()))
        subgraphs = self.subgraphs(fbb, codes, places, inputs, outputs)
        defined = [signature_table(fbb, key, *maps) for key, maps in (signatures or {}).items()]
        model = table(
            fbb,
            "Model",
            Version=_SCHEMA_VERSION,
            OperatorCodes=offset_vector(fbb, [self._operator_code(fbb, *code) for code in codes]),
            Subgraphs=offset_vector(fbb, subgraphs),
            Description=fbb.CreateString(self._description),
            Buffers=offset_vector(fbb, buffers),
            SignatureDefs=offset_vector(fbb, defined) if defined else None,
        )
        fbb.Finish(model, _IDENTIFIER)
        return bytes(fbb.Output())

    def all_operators(self) -> list[OperatorRecord]:
        """Return the operators of all subgraphs; there is one."""
        return self.operators

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
            table(
                fbb,
                "SubGraph",
                Tensors=offset_vector(fbb, [tensor_table(fbb, *pair) for pair in pairs]),
                Inputs=vector(fbb, inputs, np.int32),
                Outputs=vector(fbb, outputs, np.int32),
                Operators=offset_vector(
                    fbb, [operator_table(fbb, one, codes.index(one.code)) for one in self.operators]
                ),
                Name=fbb.CreateString("main"),
            )
        ]

    def _operator_code(self, fbb: Any, name: str, version: int) -> int:
        code, deprecated = self.code_fields(
            name, getattr(tflite.BuiltinOperator, name.partition(":")[0])
        )
        is_custom = name.startswith(CUSTOM)
        return table(
            fbb,
            "OperatorCode",
            DeprecatedBuiltinCode=deprecated,
            CustomCode=fbb.CreateString(name.removeprefix(CUSTOM)) if is_custom else None,
            Version=version,
            BuiltinCode=code,
        )
