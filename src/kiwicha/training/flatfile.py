"""A small builder of TFLite files on the schema's object API."""

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from numpy.typing import NDArray

__all__ = ["FileBuilder"]

FILE_IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3

# The schema asks for it, and interpreters read int32 constants in place.
BUFFER_ALIGNMENT = 16

TENSOR_TYPES = {
    np.dtype(np.int8): schema.TensorType.INT8,
    np.dtype(np.int32): schema.TensorType.INT32,
}


class _AlignedBuffer:
    """A constant's bytes; stands in for the object API's buffer, which does not align them."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def Pack(self, builder: Any) -> int:
        """Write the buffer and return its offset; the name is the object API's."""
        vector = None
        if self.content:
            builder.Prep(BUFFER_ALIGNMENT, len(self.content))
            vector = builder.CreateNumpyVector(np.frombuffer(self.content, np.uint8))
        schema.BufferStart(builder)
        if vector is not None:
            schema.BufferAddData(builder, vector)
        offset: int = schema.BufferEnd(builder)
        return offset


class FileBuilder:
    """A model with one subgraph that grows tensor by tensor and operator by operator.

    Parameters
    ----------
    description : str
        The model's description field.
    """

    def __init__(self, description: str) -> None:
        self._graph = schema.SubGraphT()
        self._graph.name = "main"
        self._graph.tensors, self._graph.operators = [], []
        self._model = schema.ModelT()
        self._model.version = SCHEMA_VERSION
        self._model.description = description
        self._model.subgraphs = [self._graph]
        self._model.operatorCodes = []
        # Buffer 0 is empty by definition: tensors without constant data name it.
        self._model.buffers = [_AlignedBuffer(b"")]
        self._codes: dict[tuple[int, int], int] = {}

    def add_tensor(
        self,
        name: str,
        shape: Sequence[int],
        dtype: type[np.generic],
        *,
        content: NDArray[np.generic] | None = None,
        scales: Sequence[float] = (),
        zero_point: int = 0,
        channel_axis: int = 0,
    ) -> int:
        """Add a tensor.

        Parameters
        ----------
        name : str
            Its name in the file.
        shape : sequence of int
            Its shape.
        dtype : numpy type
            ``numpy.int8`` or ``numpy.int32``.
        content : numpy.ndarray, optional
            The values of a constant.
        scales : sequence of float
            None, one, or one per channel.
        zero_point : int
            The same for all scales.
        channel_axis : int
            The axis that several scales belong to.

        Returns
        -------
        int
            The tensor's index.
        """
        tensor = schema.TensorT()
        tensor.name, tensor.shape = name, list(shape)
        tensor.type = TENSOR_TYPES[np.dtype(dtype)]
        tensor.buffer = 0
        if content is not None:
            little_endian = np.dtype(dtype).newbyteorder("<")
            self._model.buffers.append(_AlignedBuffer(content.astype(little_endian).tobytes()))
            tensor.buffer = len(self._model.buffers) - 1
        if scales:
            quantization = schema.QuantizationParametersT()
            quantization.scale = [float(scale) for scale in scales]
            quantization.zeroPoint = [zero_point] * len(scales)
            quantization.quantizedDimension = channel_axis
            tensor.quantization = quantization
        self._graph.tensors.append(tensor)
        return len(self._graph.tensors) - 1

    def add_operator(
        self,
        code: int,
        version: int,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: Any,
    ) -> None:
        """Add an operator.

        Parameters
        ----------
        code, version : int
            A value of the schema's ``BuiltinOperator``, and the version that the file asks for.
        inputs, outputs : sequence of int
            Indices of tensors.
        options : object
            The schema's options object of that operator.
        """
        operator = schema.OperatorT()
        operator.opcodeIndex = self._code_index(code, version)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        operator.builtinOptions = options
        kind = type(options).__name__.removesuffix("T")
        operator.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        self._graph.operators.append(operator)

    def _code_index(self, code: int, version: int) -> int:
        """Return the index of an operator code, added when new."""
        if (code, version) not in self._codes:
            entry = schema.OperatorCodeT()
            # Readers from before the field was widened to 32 bits look at the deprecated one.
            entry.deprecatedBuiltinCode = min(code, 127)
            entry.builtinCode, entry.version = code, version
            self._codes[code, version] = len(self._model.operatorCodes)
            self._model.operatorCodes.append(entry)
        return self._codes[code, version]

    def to_bytes(self, inputs: Sequence[int], outputs: Sequence[int]) -> bytes:
        """Finish the file.

        Parameters
        ----------
        inputs, outputs : sequence of int
            Indices of the model's input and output tensors.

        Returns
        -------
        bytes
            The file's content.
        """
        self._graph.inputs, self._graph.outputs = list(inputs), list(outputs)
        builder = flatbuffers.Builder(0)
        builder.Finish(self._model.Pack(builder), FILE_IDENTIFIER)
        return bytes(builder.Output())
