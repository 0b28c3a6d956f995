"""Tables of the TFLite schema, written into a flatbuffer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tflite
from numpy.typing import DTypeLike, NDArray

__all__ = [
    "OperatorRecord",
    "TensorRecord",
    "buffer",
    "offset_vector",
    "operator_table",
    "setter",
    "signature_table",
    "table",
    "tensor_table",
    "vector",
]

_ALIGNMENT = 16
"""Of constants, in bytes: interpreters read them in place."""


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


def table(fbb: Any, kind: str, /, **fields: Any) -> int:
    """Write a table of the schema and return its offset; fields of None are left out."""
    getattr(tflite, f"{kind}Start")(fbb)
    for key, value in fields.items():
        if value is not None:
            getattr(tflite, f"{kind}Add{key}")(fbb, value)
    offset: int = getattr(tflite, f"{kind}End")(fbb)
    return offset


def setter(table: str, key: str) -> str:
    """Return the name of the function that sets a field of a table."""
    return f"{table}Add{key[:1].upper()}{key[1:]}"


def vector(fbb: Any, values: Any, dtype: DTypeLike) -> int:
    """Write a vector of numbers and return its offset."""
    offset: int = fbb.CreateNumpyVector(np.asarray(values, np.dtype(dtype).newbyteorder("<")))
    return offset


def offset_vector(fbb: Any, offsets: Sequence[int]) -> int:
    """Write a vector of tables and return its offset."""
    fbb.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        fbb.PrependUOffsetTRelative(offset)
    end: int = fbb.EndVector()
    return end


def buffer(fbb: Any, data: bytes) -> int:
    """Write the bytes of a constant and return the offset of their table."""
    if not data:
        return table(fbb, "Buffer")
    fbb.Prep(_ALIGNMENT, len(data))
    return table(fbb, "Buffer", Data=fbb.CreateNumpyVector(np.frombuffer(data, np.uint8)))


def tensor_table(fbb: Any, tensor: TensorRecord, buffer: int) -> int:
    """Write a tensor, whose data are in a buffer of that number."""
    signature = tensor.shape_signature
    return table(
        fbb,
        "Tensor",
        Shape=None if tensor.shape is None else vector(fbb, tensor.shape, np.int32),
        Type=tensor.type,
        Buffer=buffer,
        Name=fbb.CreateString(tensor.name),
        Quantization=_quantization(fbb, tensor),
        IsVariable=tensor.is_variable,
        Sparsity=table(fbb, "SparsityParameters") if tensor.is_sparse else None,
        ShapeSignature=None if signature is None else vector(fbb, signature, np.int32),
        HasRank=tensor.shape is not None,
    )


def _quantization(fbb: Any, tensor: TensorRecord) -> int | None:
    if tensor.scales is None:
        return None
    return table(
        fbb,
        "QuantizationParameters",
        Scale=vector(fbb, tensor.scales, np.float32),
        ZeroPoint=vector(fbb, tensor.zero_points, np.int64),
        QuantizedDimension=tensor.axis,
    )


def operator_table(fbb: Any, operator: OperatorRecord, code_index: int) -> int:
    """Write an operator, whose code has that number."""
    raw = operator.custom_options
    custom = fbb.CreateNumpyVector(np.frombuffer(raw, np.uint8)) if raw else None
    options = None
    if operator.table:
        values = {
            key[:1].upper() + key[1:]: _option(fbb, value)
            for key, value in operator.options.items()
        }
        options = table(fbb, operator.table, **values)
    return table(
        fbb,
        "Operator",
        OpcodeIndex=code_index,
        Inputs=vector(fbb, operator.inputs, np.int32),
        Outputs=vector(fbb, operator.outputs, np.int32),
        BuiltinOptionsType=getattr(tflite.BuiltinOptions, operator.table or "NONE"),
        BuiltinOptions=options,
        CustomOptions=custom,
    )


def _option(fbb: Any, value: Any) -> Any:
    if isinstance(value, str):
        return fbb.CreateString(value)
    return vector(fbb, value, np.int32) if np.ndim(value) else value


def signature_table(
    fbb: Any, key: str, inputs: Mapping[str, int], outputs: Mapping[str, int]
) -> int:
    """Write a signature: indices of tensors by name."""

    def maps(names: Mapping[str, int]) -> int:
        entries = [
            table(fbb, "TensorMap", Name=fbb.CreateString(name), TensorIndex=index)
            for name, index in names.items()
        ]
        return offset_vector(fbb, entries)

    return table(
        fbb,
        "SignatureDef",
        Inputs=maps(inputs),
        Outputs=maps(outputs),
        SignatureKey=fbb.CreateString(key),
        SubgraphIndex=0,
    )
