"""From the bytes of an ``.onnx`` file in QDQ form to the `Graph` that ``.tflite`` files give, too.

Operators are read one after the other. What stands between a DequantizeLinear and a QuantizeLinear
becomes one operator of the graph, with the scales of both.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

from kiwicha.compiler.onnx import (
    arithmetic,
    constants,
    convolutions,
    functions,
    joins,
    moves,
    pools,
    quantize,
    resize,
    softmax,
    transposed,
)
from kiwicha.compiler.onnx.layout import plain
from kiwicha.compiler.onnx.model import Edge, Node, OnnxModel, read_model
from kiwicha.compiler.onnx.operators import OPERATORS, Operands
from kiwicha.compiler.onnx.remedies import is_quantized, remedies
from kiwicha.compiler.onnx.values import (
    Activation,
    Constant,
    Pending,
    Quantized,
    Refusal,
    Scale,
    Unquantized,
    Value,
)
from kiwicha.compiler.onnx.writer import Writer, quantization_of
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.errors import ModelError, UnsupportedModelError, Violation

__all__ = ["onnx_rules", "read"]

_FAMILIES = (
    quantize,
    convolutions,
    transposed,
    pools,
    arithmetic,
    functions,
    softmax,
    moves,
    joins,
    resize,
    constants,
)
"""Where operators are read, in the order of documents."""
_DEQUANTIZE = "DequantizeLinear"
_RULE = "Operators of ONNX models are those listed, on quantized tensors of a fixed shape."
_MISFITS = (ArithmeticError, IndexError, KeyError, TypeError, ValueError)
"""What comes of attributes and operands that do not fit."""
_BYTES = {np.dtype(np.int8): False, np.dtype(np.uint8): True}


def onnx_rules() -> list[tuple[tuple[str, ...], str]]:
    """Return the ONNX operators that are read, by family, and what they ask for."""
    found = {item.text: item for item in OPERATORS.values()}
    families = [family.__name__ for family in _FAMILIES]
    ordered = sorted(found.values(), key=lambda item: families.index(item.read.__module__))
    return [(item.names, item.text) for item in ordered]


def read(raw: bytes) -> Graph:
    """Parse and check a model.

    Parameters
    ----------
    raw : bytes
        Content of an ``.onnx`` file.

    Raises
    ------
    ModelError
        If the bytes are not a well-formed ONNX model.
    UnsupportedModelError
        If an operator asks for what is not supported, or is not quantized; lists all.
    ToolError
        If the ``onnx`` package is not installed.
    """
    graph = _Reader(read_model(raw)).graph()
    graph.verify()
    return graph


class _Reader:
    """One model: what its names stand for, and what is wrong with it."""

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        self._writer = Writer()
        self._violations: list[Violation] = []
        self._has_floats = self._has_free_shapes = False
        self._values: dict[str, Value | None] = {
            name: Constant(values) for name, values in model.constants.items()
        }
        """None for what could not be read."""
        self._edges: set[int] = set()
        """Tensors of the model's inputs and outputs."""
        self._writers = {name: node for node in model.nodes for name in node.outputs}

    def graph(self) -> Graph:
        """Return the graph."""
        if not is_quantized(self._model):
            text = (
                "operators must work on quantized numbers, not float32: there is no " + _DEQUANTIZE
            )
            self._refuse(None, text, has_floats=True)
            raise self._error()
        inputs = [self._at_edge(self._input, edge) for edge in self._model.inputs]
        self._edges.update(index for index in inputs if index is not None)
        for node in self._model.nodes:
            self._read(node)
        outputs = [self._at_edge(self._output, edge) for edge in self._model.outputs]
        if self._violations:
            raise self._error()
        return self._writer.graph(
            [index for index in inputs if index is not None],
            [index for index in outputs if index is not None],
        )

    def _error(self) -> UnsupportedModelError:
        return UnsupportedModelError(
            self._violations,
            remedies(
                self._model,
                self._violations,
                has_floats=self._has_floats,
                has_free_shapes=self._has_free_shapes,
            ),
        )

    def _refuse(
        self, node: Node | None, text: str, tensor: str = "", *, has_floats: bool = False
    ) -> None:
        self._has_floats |= has_floats
        if node is None:
            self._violations.append(Violation(None, "model", tensor, _RULE, text))
        else:
            rule = OPERATORS[node.kind].text if node.kind in OPERATORS else _RULE
            self._violations.append(Violation(node.index, node.kind, node.name, rule, text))

    def _read(self, node: Node) -> None:
        """Give the outputs of an operator their values."""
        self._values.update(dict.fromkeys(node.outputs))
        if any(name and self._values.get(name) is None for name in node.inputs):
            return
        inputs: Operands = [self._values[name] if name else None for name in node.inputs]
        try:
            self._values.update(zip(node.outputs, self._results(node, inputs), strict=False))
        except Refusal as refusal:
            place = self._writers.get(refusal.value, node)
            self._refuse(place, str(refusal), has_floats=isinstance(refusal, Unquantized))
        except ModelError:
            raise
        except _MISFITS as error:
            raise ModelError(
                f"node {node.index} {node.kind} ({node.name}): attributes and operands must fit "
                "the operator"
            ) from error

    def _results(self, node: Node, inputs: Operands) -> list[Value]:
        if constants.is_known(node, inputs):
            return list(constants.computed(node, inputs))
        if node.kind not in OPERATORS:
            raise Refusal("operator must be one of those that docs/supported.md lists")
        results = OPERATORS[node.kind].read(self._writer, node, inputs)
        if isinstance(results, list | tuple):
            return list(results)
        assert isinstance(results, Value)
        return [results]

    def _at_edge(self, read: Callable[[Edge], int | None], edge: Edge) -> int | None:
        """Return the tensor of an input or output of the model; None if it is refused."""
        try:
            return read(edge)
        except Refusal as refusal:
            self._refuse(None, str(refusal), edge.name)
        except _MISFITS as error:
            raise ModelError(
                f"{edge.name}: attributes and operands must fit the operator that reads or writes "
                "this input or output of the model"
            ) from error
        return None

    def _input(self, edge: Edge) -> int | None:
        """Add an input of the model; None if it is refused."""
        self._values[edge.name] = None
        if -1 in edge.shape[1:]:
            self._has_free_shapes = True
            sizes = list(edge.shape)
            self._refuse(None, f"model input must have a fixed shape, not {sizes}", edge.name)
            return None
        shape = tuple(1 if size < 0 else size for size in edge.shape)
        signature = edge.shape if edge.shape != shape else ()
        writer, order = self._writer, tuple(range(len(shape)))
        if edge.dtype == np.float32:
            source = writer.tensor(edge.name, shape, TensorType.FLOAT32, signature=signature)

            def emit(scale: Scale) -> Activation:
                output = writer.bytes(edge.name, shape, scale)
                writer.operator("QUANTIZE", (source,), (output,))
                return Activation(output, shape, order, scale.reals)

            self._values[edge.name] = Pending(edge.name, shape, emit)
            return source
        if edge.dtype not in _BYTES:
            text = f"model input must be float32, int8 or uint8, not {edge.dtype or 'no tensor'}"
            self._refuse(None, text, edge.name)
            return None
        scale = self._scale_of_input(edge.name)
        if scale is None:
            self._refuse(None, f"model input must be read by a {_DEQUANTIZE}", edge.name)
            return None
        source = writer.tensor(
            edge.name,
            shape,
            quantization=quantization_of(scale),
            is_shifted=scale.is_unsigned,
            signature=signature,
        )
        inside = source
        if scale.is_unsigned:
            inside = writer.bytes(edge.name, shape, scale)
            writer.operator("QUANTIZE", (source,), (inside,))
        self._values[edge.name] = Quantized(Activation(inside, shape, order, scale.reals), scale)
        return source

    def _scale_of_input(self, name: str) -> Scale | None:
        """Return the scale of bytes at the model's edge: of the DequantizeLinear behind them."""
        names = {name}
        for node in self._model.nodes:
            if not names & {*node.inputs[:1]}:
                continue
            if node.kind.endswith(_DEQUANTIZE):
                inputs = [self._values.get(item) for item in node.inputs]
                if all(item is None or isinstance(item, Constant) for item in inputs[1:]):
                    return quantize.scale_of(node, inputs)
            names |= {*node.outputs}
        return None

    def _output(self, edge: Edge) -> int | None:
        """Return the tensor of an output of the model; None if it is refused."""
        value, writer = self._values.get(edge.name), self._writer
        if value is None:
            return None
        if isinstance(value, Constant):
            self._refuse(None, "model output must be computed, not be a constant", edge.name)
            return None
        is_float = isinstance(value, Pending) or not (
            isinstance(value, Quantized) or writer.is_plain(value)
        )
        if is_float:
            text = "model output must be quantized, not float32: QuantizeLinear is missing"
            self._refuse(None, text, edge.name, has_floats=True)
            return None
        if isinstance(value, Quantized):
            inside = plain(writer, value.inside)
            scale = writer.scale_of(inside)
            if not value.scale.is_unsigned and inside.tensor not in self._edges:
                self._edges.add(inside.tensor)
                named = dataclasses.replace(writer.tensors[inside.tensor], name=edge.name)
                writer.tensors[inside.tensor] = named
                return inside.tensor
            output = writer.tensor(
                edge.name,
                inside.shape,
                quantization=quantization_of(scale),
                is_shifted=value.scale.is_unsigned,
            )
            writer.operator("QUANTIZE", (inside.tensor,), (output,))
            return output
        assert isinstance(value, Activation)
        inside = plain(writer, value)
        output = writer.tensor(edge.name, inside.shape, TensorType.FLOAT32)
        writer.operator("DEQUANTIZE", (inside.tensor,), (output,))
        return output
