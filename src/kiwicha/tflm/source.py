"""A .tflite file as records that can be written again, whatever its operators are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tflite

from kiwicha.compiler.tflite.graph import Graph
from kiwicha.errors import ModelError
from kiwicha.tflite_writer.builder import CUSTOM
from kiwicha.tflite_writer.tables import OperatorRecord, TensorRecord

__all__ = ["Source", "read_source"]

_TABLES = {
    number: name for name, number in vars(tflite.BuiltinOptions).items() if name.endswith("Options")
}
_VTABLE_HEAD_BYTES = 4
_SLOT_BYTES = 2


@dataclass(frozen=True, eq=False)
class Source:
    """A model of one subgraph.

    Parameters
    ----------
    tensors : tuple of TensorRecord
        By index, as the file has them.
    operators : tuple of OperatorRecord
        In order of execution.
    inputs, outputs : tuple of int
        Tensor indices.
    signatures : mapping
        Tensor indices of inputs and of outputs by name, of each signature by its key.
    """

    tensors: tuple[TensorRecord, ...]
    operators: tuple[OperatorRecord, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    signatures: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]]


def read_source(raw: bytes, graph: Graph) -> Source:
    """Return the records of a file.

    Parameters
    ----------
    raw : bytes
        Of a ``.tflite`` file.
    graph : Graph
        What `kiwicha.compiler.tflite.reader.read` made of it: the file is well-formed.

    Raises
    ------
    ModelError
        If an operator's options cannot be copied: a converter newer than this version wrote them.
    """
    model: Any = tflite.Model.GetRootAs(raw, 0)
    subgraph = model.Subgraphs(0)
    return Source(
        tuple(_tensor(model, subgraph.Tensors(k)) for k in range(subgraph.TensorsLength())),
        tuple(
            _operator(subgraph.Operators(item.index), model, item.name, item.index)
            for item in graph.operators
        ),
        graph.inputs,
        graph.outputs,
        {
            _text(item.SignatureKey()): (
                _map(item.Inputs, item.InputsLength()),
                _map(item.Outputs, item.OutputsLength()),
            )
            for item in map(model.SignatureDefs, range(model.SignatureDefsLength()))
            if item.SubgraphIndex() == 0
        },
    )


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")


def _map(item: Any, count: int) -> dict[str, int]:
    return {_text(item(k).Name()): item(k).TensorIndex() for k in range(count)}


def _items(vector: Any) -> tuple[int, ...]:
    """Return a vector of the file; the reader gives 0 for one that is missing."""
    return tuple(int(item) for item in vector) if isinstance(vector, np.ndarray) else ()


def _tensor(model: Any, source: Any) -> TensorRecord:
    record = TensorRecord(
        name=_text(source.Name()),
        type=source.Type(),
        shape=_items(source.ShapeAsNumpy()),
        shape_signature=_items(source.ShapeSignatureAsNumpy()) or None,
        is_variable=bool(source.IsVariable()),
        is_sparse=source.Sparsity() is not None,
    )
    data = model.Buffers(source.Buffer()).DataAsNumpy()
    if isinstance(data, np.ndarray) and len(data):
        record.data = data.tobytes()
    quantization = source.Quantization()
    scales = None if quantization is None else quantization.ScaleAsNumpy()
    if isinstance(scales, np.ndarray) and len(scales):
        zero_points = quantization.ZeroPointAsNumpy()
        given = isinstance(zero_points, np.ndarray)
        record.scales = scales
        record.zero_points = zero_points if given else np.zeros(len(scales), np.int64)
        record.axis = quantization.QuantizedDimension()
    return record


def _operator(source: Any, model: Any, name: str, index: int) -> OperatorRecord:
    version = model.OperatorCodes(source.OpcodeIndex()).Version()
    record = OperatorRecord(
        (name, version), _items(source.InputsAsNumpy()), _items(source.OutputsAsNumpy())
    )
    if name.startswith(CUSTOM):
        custom = source.CustomOptionsAsNumpy()
        record.custom_options = custom.tobytes() if isinstance(custom, np.ndarray) else b""
        return record
    where = f"operator {index} {name}"
    if not hasattr(tflite.BuiltinOperator, name):
        raise ModelError(f"{where}: operator must be one that this version can copy")
    if source.BuiltinOptions2() is not None:
        raise ModelError(f"{where}: options must be of the first union of the schema, to be copied")
    options = source.BuiltinOptions()
    if options is not None:
        record.table = _TABLES.get(source.BuiltinOptionsType(), "")
        record.options = _fields(options, record.table, where)
    return record


def _fields(options: Any, table: str, where: str) -> dict[str, Any]:
    """Return the fields of a table of options that are not left out."""
    if not table:
        raise ModelError(f"{where}: options must be a table that this version can copy")
    reader = getattr(tflite, table)()
    reader.Init(options.Bytes, options.Pos)
    prefix = f"{table}Add"
    names = [name.removeprefix(prefix) for name in vars(tflite) if name.startswith(prefix)]
    vtable = options.Pos - int.from_bytes(
        options.Bytes[options.Pos : options.Pos + 4], "little", signed=True
    )
    size = int.from_bytes(options.Bytes[vtable : vtable + _SLOT_BYTES], "little")
    slots = _Slots()
    getattr(tflite, f"{table}Start")(slots)
    if size > _VTABLE_HEAD_BYTES + _SLOT_BYTES * slots.count:
        raise ModelError(
            f"{where}: options must have the {slots.count} fields of {table} that this version can "
            "copy, not more"
        )
    return {name: value for name in names if (value := _field(reader, name, where)) is not None}


class _Slots:
    """Stands for a builder: learns how many fields a table has, deprecated ones included."""

    def __init__(self) -> None:
        self.count = 0

    def StartObject(self, count: int) -> None:
        """Begin a table, as a builder does."""
        self.count = count


def _field(reader: Any, name: str, where: str) -> Any:
    if not hasattr(reader, f"{name}AsNumpy"):
        value = getattr(reader, name)()
        return _text(value) if isinstance(value, bytes) else value
    vector = getattr(reader, f"{name}AsNumpy")()
    if not isinstance(vector, np.ndarray):
        return None
    if vector.dtype != np.int32:
        raise ModelError(f"{where}: options must have vectors of int32, to be copied ({name})")
    return vector
