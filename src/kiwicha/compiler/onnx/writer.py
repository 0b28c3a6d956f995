"""Collects the tensors and operators of a graph."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.onnx.values import BYTES, Activation, Scale
from kiwicha.compiler.tflite.graph import Graph, Operator, Options
from kiwicha.compiler.tflite.operators import BYTE_TABLE
from kiwicha.compiler.tflite.tensor import Quantization, Tensor, TensorType

__all__ = ["Writer", "quantization_of"]


class Writer:
    """A graph that grows; its tensors are int8 inside.

    Attributes
    ----------
    tensors : list of Tensor
        By index.
    operators : list of Operator
        In order of execution.
    arranged : dict
        What tensors are in other orders of their dimensions, by tensor, shape and order.
    """

    def __init__(self) -> None:
        self.arranged: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Activation] = {}
        self.tensors: list[Tensor] = []
        self.operators: list[Operator] = []

    def tensor(
        self,
        name: str,
        shape: Sequence[int],
        kind: TensorType = TensorType.INT8,
        quantization: Quantization | None = None,
        data: NDArray[Any] | None = None,
        *,
        is_shifted: bool = False,
        signature: tuple[int, ...] = (),
    ) -> int:
        """Add a tensor and return its index.

        Parameters
        ----------
        name : str
            As in the ONNX model.
        shape : sequence of int
            As it is stored.
        kind : TensorType
            Element type.
        quantization : Quantization, optional
            Of its bytes.
        data : array, optional
            Makes it constant.
        is_shifted : bool
            uint8 at the model's edge.
        signature : tuple of int
            The shape with -1 for what is not known.
        """
        raw = None
        if data is not None:
            little = np.ascontiguousarray(data, np.dtype(data.dtype).newbyteorder("<"))
            raw = np.frombuffer(little.tobytes(), np.uint8)
        printable = "".join(char if char.isprintable() else "\ufffd" for char in name)
        self.tensors.append(
            Tensor(
                index=len(self.tensors),
                name=printable,
                type=kind,
                shape=tuple(int(size) for size in shape),
                shape_signature=signature,
                quantization=quantization,
                data=raw,
                is_variable=False,
                is_sparse=False,
                is_shifted=is_shifted,
            )
        )
        return len(self.tensors) - 1

    def bytes(self, name: str, shape: Sequence[int], scale: Scale) -> int:
        """Add a tensor of int8 and return its index."""
        return self.tensor(name, shape, quantization=quantization_of(scale))

    def integers(self, values: Sequence[int] | NDArray[Any], name: str = "") -> int:
        """Add a constant of int32, such as axes, and return its index."""
        data = np.asarray(values, np.int32)
        return self.tensor(name, data.shape, TensorType.INT32, data=data)

    def operator(
        self, name: str, inputs: Sequence[int], outputs: Sequence[int], **options: Any
    ) -> None:
        """Add an operator; see `kiwicha.compiler.tflite.graph.Options`."""
        self.operators.append(
            Operator(len(self.operators), name, tuple(inputs), tuple(outputs), Options(**options))
        )

    def scale_of(self, activation: Activation) -> Scale:
        """Return scale and zero point of an activation's tensor."""
        quantization = self.tensors[activation.tensor].quantization
        assert quantization is not None
        return Scale(quantization.scale, quantization.zero_point)

    def is_plain(self, activation: Activation) -> bool:
        """Return whether an activation's numbers are its tensor's."""
        return bool(np.array_equal(activation.reals, self.scale_of(activation).reals))

    def name_of(self, activation: Activation) -> str:
        """Return the name of an activation's tensor."""
        return self.tensors[activation.tensor].name

    def moved(
        self,
        name: str,
        source: Activation,
        shape: Sequence[int],
        order: Sequence[int],
        more: Sequence[int] = (),
        **options: Any,
    ) -> Activation:
        """Add an operator that moves bytes, and return what it gives.

        Parameters
        ----------
        name : str
            Operator.
        source : Activation
            Its first input.
        shape, order : sequence of int
            Of the result.
        more : sequence of int
            Further inputs.
        **options
            Settings.
        """
        result = self.beside(source, shape, order)
        self.operator(name, (source.tensor, *more), (result.tensor,), **options)
        return result

    def beside(self, source: Activation, shape: Sequence[int], order: Sequence[int]) -> Activation:
        """Add a tensor whose bytes stand for the same numbers as those of another one."""
        stored = tuple(shape[axis] for axis in order)
        tensor = self.bytes(self.name_of(source), stored, self.scale_of(source))
        return Activation(tensor, tuple(shape), tuple(order), source.reals)

    def looked_up(
        self, source: Activation, table: NDArray[np.int64], scale: Scale, name: str
    ) -> Activation:
        """Add a table and return its result.

        Parameters
        ----------
        source : Activation
            Its input.
        table : int64 [256]
            The int8 of each byte.
        scale : Scale
            Of the result.
        name : str
            Of the result.
        """
        tensor = self.bytes(name, source.stored, scale)
        custom = table.astype(np.int8).tobytes()
        self.operator(BYTE_TABLE, (source.tensor,), (tensor,), custom=custom)
        return Activation(
            tensor, source.shape, source.order, scale.reals, source.features, source.source
        )

    def quantized(self, source: Activation, scale: Scale, name: str) -> Activation:
        """Return the numbers of an activation, rounded to a scale; itself if nothing changes."""
        if self.is_plain(source) and self.scale_of(source).is_same(scale):
            return source
        codes = scale.codes(source.reals)
        if np.array_equal(codes, BYTES) and self.scale_of(source).is_same(scale):
            return Activation(
                source.tensor,
                source.shape,
                source.order,
                scale.reals,
                source.features,
                source.source,
            )
        return self.looked_up(source, codes, scale, name)

    def graph(self, inputs: Sequence[int], outputs: Sequence[int]) -> Graph:
        """Return the graph, whole."""
        return Graph(
            tuple(self.tensors),
            tuple(self.operators),
            tuple(inputs),
            tuple(outputs),
            is_onnx=True,
        )


def quantization_of(scale: Scale) -> Quantization:
    """Return a scale as tensors have it."""
    return Quantization(
        np.array([scale.scale], np.float32), np.array([scale.zero_point], np.int64), 0
    )
