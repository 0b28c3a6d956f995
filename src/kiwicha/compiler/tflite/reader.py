"""From the bytes of a ``.tflite`` file to a `Graph`.

Every offset and length in the file is treated as hostile: whatever the bytes are, reading ends in a
`Graph` or in a `ModelError`, in time and memory proportional to the file.
"""

import dataclasses
import enum
import struct
from typing import Any, TypeVar

import flatbuffers.number_types
import numpy as np
import tflite
from numpy.typing import NDArray

from kiwicha.compiler.tflite.graph import NO_TENSOR, Activation, Graph, Operator, Options, Padding
from kiwicha.compiler.tflite.int4_as_int8 import widened
from kiwicha.compiler.tflite.operators import OPERATORS
from kiwicha.compiler.tflite.tensor import Quantization, Tensor, TensorType
from kiwicha.compiler.tflite.uint8_as_int8 import shifted
from kiwicha.custom import MODEL_PREFIX
from kiwicha.errors import ModelError

__all__ = ["read"]

IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3
MAX_OPERATORS = 4096
MAX_TENSORS = 65535
MAX_SUBGRAPHS = 256
_DAMAGED = (
    "the file must be a whole .tflite model, not a truncated or damaged one; "
    "fetch or convert it again"
)

_BUILTIN_CODE_SLOT = 10
"""Of ``OperatorCode.builtin_code`` in its vtable."""
_CALLS = {
    "CALL_ONCE": ("CallOnceOptions", ("InitSubgraphIndex",)),
    "IF": ("IfOptions", ("ThenSubgraphIndex", "ElseSubgraphIndex")),
    "WHILE": ("WhileOptions", ("CondSubgraphIndex", "BodySubgraphIndex")),
}
"""Operators that execute subgraphs: the table of their options, and the fields that name them."""
_VARIABLE = ("VAR_HANDLE", "VarHandleOptions")
"""The operator that names a variable, and the table of its options."""

E = TypeVar("E", bound=enum.IntEnum)

_OPERATOR_NAMES: dict[int, str] = {
    code: name
    for name, code in vars(tflite.BuiltinOperator).items()
    if isinstance(code, int) and not name.startswith("_")
}


def read(raw: bytes) -> Graph:
    """Return the model stored in ``raw``, with int8 tensors for those of uint8 and int4 weights.

    Parameters
    ----------
    raw : bytes
        Content of a ``.tflite`` file.

    Raises
    ------
    ModelError
        If the bytes are not a well-formed TFLite model.
    """
    if len(raw) < 8 or raw[4:8] != IDENTIFIER:
        raise ModelError(
            f"the file must be a TFLite model, with {IDENTIFIER.decode()} in bytes 4 to 7, "
            f"not {raw[4:8]!r} in {len(raw)} bytes"
        )
    try:
        reader = _Reader(raw)
        graph = reader.graph()
    except ModelError:
        raise
    except (struct.error, ValueError, TypeError, IndexError, OverflowError) as error:
        # Their texts speak of buffers and offsets; --debug shows them.
        raise ModelError(_DAMAGED) from error
    graph.verify()
    return shifted(widened(graph, reader.spend))


class _Reader:
    """Access to one file; counts what was read, so that shared vectors cannot multiply."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._budget = 2 * len(raw) + 65536
        self._model: Any = tflite.Model.GetRootAs(raw, 0)

    def graph(self) -> Graph:
        if self._model.Version() != SCHEMA_VERSION:
            raise ModelError(
                f"schema version must be {SCHEMA_VERSION}, not {self._model.Version()}"
            )
        if self._model.SubgraphsLength() < 1:
            raise ModelError("the model must have a subgraph")
        codes = [
            self._operator_name(self._model.OperatorCodes(index))
            for index in range(_count("codes", self._model.OperatorCodesLength(), MAX_OPERATORS))
        ]
        count = _count("subgraphs", self._model.SubgraphsLength(), MAX_SUBGRAPHS)
        first, *others = (self._subgraph(number, codes) for number in range(count))
        return dataclasses.replace(first, others=tuple(others))

    def _subgraph(self, number: int, codes: list[str]) -> Graph:
        try:
            return self._content(self._model.Subgraphs(number), codes)
        except ModelError as error:
            if number:
                error.add_place(f"subgraph {number}")
            raise

    def _content(self, subgraph: Any, codes: list[str]) -> Graph:
        tensors = tuple(
            self._tensor(subgraph.Tensors(index), index)
            for index in range(_count("tensors", subgraph.TensorsLength(), MAX_TENSORS))
        )
        operators = tuple(
            self._operator(subgraph.Operators(index), index, codes)
            for index in range(_count("operators", subgraph.OperatorsLength(), MAX_OPERATORS))
        )
        return Graph(
            tensors,
            operators,
            self._indices(subgraph.InputsAsNumpy()),
            self._indices(subgraph.OutputsAsNumpy()),
        )

    def spend(self, amount: int) -> None:
        """Count bytes that become a part of the graph; they are in proportion to the file."""
        self._budget -= amount
        if self._budget < 0:
            raise ModelError(_DAMAGED)

    def _indices(self, vector: Any) -> tuple[int, ...]:
        """Return a vector of the file as ints; the reader gives 0 for one that is missing."""
        if not isinstance(vector, np.ndarray):
            return ()
        self.spend(vector.nbytes)
        return tuple(int(item) for item in vector)

    def _text(self, raw: bytes | None) -> str:
        text = raw or b""
        self.spend(len(text))
        # Names stand in messages of one line, and in files that end them with a zero byte.
        decoded = text.decode(errors="replace")
        return "".join(char if char.isprintable() else "\ufffd" for char in decoded)

    def _tensor(self, source: Any, index: int) -> Tensor:
        name = self._text(source.Name())
        where = f"tensor {index} ({name})"
        kind = _member(TensorType, source.Type(), f"{where}: type")
        tensor = Tensor(
            index=index,
            name=name,
            type=kind,
            shape=self._indices(source.ShapeAsNumpy()),
            shape_signature=self._indices(source.ShapeSignatureAsNumpy()),
            quantization=_quantization(source.Quantization(), where),
            data=self._data(source.Buffer(), where),
            is_variable=bool(source.IsVariable()),
            is_sparse=source.Sparsity() is not None,
        )
        if tensor.data is not None and kind.bits is not None and not tensor.is_sparse:
            expected = -(-tensor.elements * kind.bits // 8)
            if min(tensor.shape, default=1) < 0 or len(tensor.data) != expected:
                raise ModelError(
                    f"{where}: data must have {expected} bytes for {kind.text} "
                    f"{list(tensor.shape)}, not {len(tensor.data)}"
                )
        return tensor

    def _data(self, index: int, where: str) -> NDArray[np.uint8] | None:
        count = self._model.BuffersLength()
        if not 0 <= index < count:
            raise ModelError(f"{where}: buffer must be 0 to {count - 1}, not {index}")
        buffer = self._model.Buffers(index)
        if buffer.Offset() > 1:
            raise ModelError(f"{where}: data must lie inside the flatbuffer, not behind it")
        data = buffer.DataAsNumpy()
        if not isinstance(data, np.ndarray) or not len(data):
            return None
        return data

    def _operator_name(self, source: Any) -> str:
        code = _builtin_code(source)
        name = _OPERATOR_NAMES.get(code, f"BUILTIN_{code}")
        if name == MODEL_PREFIX.removesuffix(":"):
            return MODEL_PREFIX + self._text(source.CustomCode())
        return name

    def _operator(self, source: Any, index: int, codes: list[str]) -> Operator:
        code = source.OpcodeIndex()
        if not 0 <= code < len(codes):
            raise ModelError(
                f"operator {index}: operator code must be 0 to {len(codes) - 1}, not {code}"
            )
        return Operator(
            index=index,
            name=codes[code],
            inputs=_ordered(codes[code], self._indices(source.InputsAsNumpy())),
            outputs=self._indices(source.OutputsAsNumpy()),
            options=self._options(source, f"operator {index} {codes[code]}", codes[code]),
        )

    def _options(self, source: Any, where: str, name: str) -> Options:
        if name.startswith(MODEL_PREFIX):
            raw = source.CustomOptionsAsNumpy()
            return Options(custom=raw.tobytes() if isinstance(raw, np.ndarray) else b"")
        if name in _CALLS:
            kind, fields = _CALLS[name]
            calls = _table(source, where, kind, is_required=True)
            return Options(subgraphs=tuple(int(getattr(calls, field)()) for field in fields))
        if name == _VARIABLE[0]:
            names = _table(source, where, _VARIABLE[1], is_required=True)
            return Options(variable=(self._text(names.Container()), self._text(names.SharedName())))
        table = OPERATORS[name].options if name in OPERATORS else None
        if table is None:
            return Options()
        reader = _table(source, where, table.name, is_required=table.is_required)
        if reader is None:
            return Options()
        settings: dict[str, Any] = {
            field: getattr(reader, accessor)() for field, accessor in table.fields.items()
        }
        kinds: dict[str, type[enum.IntEnum]] = {"activation": Activation, "padding": Padding}
        for field in settings.keys() & kinds.keys():
            settings[field] = _member(kinds[field], settings[field], f"{where}: {field}")
        return Options(**settings)


def _builtin_code(source: Any) -> int:
    """Return the larger of both fields for an operator's code, as TFLite does.

    A file may have either or both. The generated reader's ``BuiltinCode`` is not the newer field:
    it gives the older one where the newer is below 127.
    """
    table = source._tab
    place = table.Offset(_BUILTIN_CODE_SLOT)
    newer = table.Get(flatbuffers.number_types.Int32Flags, place + table.Pos) if place else 0
    code: int = max(source.DeprecatedBuiltinCode(), newer)
    return code


def _ordered(name: str, inputs: tuple[int, ...]) -> tuple[int, ...]:
    """Return inputs with the activations first: in TRANSPOSE_CONV the output's shape is."""
    if name != "TRANSPOSE_CONV" or len(inputs) < 3:
        return inputs
    shape, weights, source, *bias = inputs
    return (source, weights, *(bias or [NO_TENSOR]), shape)


def _table(source: Any, where: str, name: str, *, is_required: bool) -> Any:
    """Return the reader of an operator's options; None if it has none and may."""
    kind, options = source.BuiltinOptionsType(), source.BuiltinOptions()
    if options is None or kind != getattr(tflite.BuiltinOptions, name):
        if is_required or options is not None:
            raise ModelError(f"{where}: options must be a {name} table, not union member {kind}")
        return None
    reader = getattr(tflite, name)()
    reader.Init(options.Bytes, options.Pos)
    return reader


def _quantization(source: Any, where: str) -> Quantization | None:
    if source is None:
        return None
    scales, zero_points = source.ScaleAsNumpy(), source.ZeroPointAsNumpy()
    if not isinstance(scales, np.ndarray) or not isinstance(zero_points, np.ndarray):
        return None
    if not len(scales) or not len(zero_points):
        return None
    if len(zero_points) != len(scales):
        raise ModelError(
            f"{where}: zero points must be as many as the {len(scales)} scales, "
            f"not {len(zero_points)}"
        )
    return Quantization(scales, zero_points, source.QuantizedDimension())


def _member(kind: type[E], value: int, what: str) -> E:
    try:
        return kind(value)
    except ValueError:
        raise ModelError(f"{what} must be 0 to {max(kind)}, not {value}") from None


def _count(what: str, count: int, limit: int) -> int:
    if count > limit:
        raise ModelError(f"the model must have at most {limit} {what}, not {count}")
    return count
