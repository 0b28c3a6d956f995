"""The content of an ONNX file as plain data, read with the package of the same name."""

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kiwicha.errors import KiwichaError, ModelError, ToolError

__all__ = ["Edge", "Node", "OnnxModel", "Values", "evaluate", "load_checked", "read_model"]

Values = NDArray[Any]
T = TypeVar("T")
MAX_NODES = 65535
MAX_VALUES = 1 << 24
"""Of a constant that is computed here."""
_DEFAULT_DOMAINS = {"", "ai.onnx"}


@dataclass(frozen=True, eq=False)
class Node:
    """One operator.

    Parameters
    ----------
    index : int
        Position in the file.
    kind : str
        ONNX operator, such as ``Conv``; with its domain if that is not ONNX's own.
    name : str
        As in the file; its first output if it has none.
    inputs, outputs : tuple of str
        Names of values; an empty one stands for an operand that is left out.
    attributes : mapping of str to object
        Numbers, texts, lists of them, and arrays.
    opset : int
        Version of its domain.
    source : object
        The file's own record.
    """

    index: int
    kind: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 13
    source: Any = None

    def get(self, name: str, default: Any) -> Any:
        """Return an attribute."""
        return self.attributes.get(name, default)


@dataclass(frozen=True)
class Edge:
    """An input or output of the model.

    Parameters
    ----------
    name : str
        As in the file.
    dtype : numpy type or None
        None if it is no tensor of numbers.
    shape : tuple of int
        -1 where the size is not known.
    """

    name: str
    dtype: "np.dtype[Any] | None"
    shape: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A model.

    Parameters
    ----------
    nodes : tuple of Node
        In order of execution.
    constants : mapping of str to array
        Initializers by name.
    inputs, outputs : tuple of Edge
        Without the initializers that old files list as inputs.
    """

    nodes: tuple[Node, ...]
    constants: Mapping[str, Values]
    inputs: tuple[Edge, ...]
    outputs: tuple[Edge, ...]


def _package() -> Any:
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise ToolError(
            "the onnx package must be installed to read ONNX models; "
            "get it with: pip install 'kiwicha[onnx]'"
        ) from error


def read_model(raw: bytes) -> OnnxModel:
    """Return the content of an ONNX file; raises as `load_checked` does.

    Parameters
    ----------
    raw : bytes
        Content of the file.
    """
    return load_checked(
        raw, lambda proto: _content(_package(), importlib.import_module("onnx.helper"), proto)
    )


def load_checked(raw: bytes, use: Callable[[Any], T]) -> T:
    """Return what is made of the file's own record, with its functions inlined.

    Parameters
    ----------
    raw : bytes
        Content of an ``.onnx`` file.
    use : callable
        Makes it. What it raises for records that do not fit becomes a `ModelError`.

    Raises
    ------
    ToolError
        If the ``onnx`` package is not installed.
    ModelError
        If the bytes are not a well-formed ONNX model, or its weights lie in another file.
    """
    onnx = _package()
    checker = importlib.import_module("onnx.checker")
    message = importlib.import_module("google.protobuf.message")
    try:
        proto = onnx.load_model_from_string(raw)
        if any(
            tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in proto.graph.initializer
        ):
            raise ModelError(
                "weights must lie in the file, not in another one: onnx.load the model and "
                "onnx.save it again, or export it with external_data=False"
            )
        if proto.functions:
            proto = importlib.import_module("onnx.inliner").inline_local_functions(proto)
        checker.check_model(proto)
        return use(proto)
    except checker.ValidationError as error:
        raise ModelError(f"the file must be a valid ONNX model: {_first_line(error)}") from error
    except KiwichaError:
        raise
    except (message.DecodeError, ValueError, TypeError, KeyError, RuntimeError) as error:
        raise ModelError(
            "the file must be a whole .onnx model, not a truncated or damaged one; "
            f"export it again ({_first_line(error)})"
        ) from error


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _content(onnx: Any, helper: Any, proto: Any) -> OnnxModel:
    graph = proto.graph
    if len(graph.node) > MAX_NODES:
        raise ModelError(f"the model must have at most {MAX_NODES} nodes, not {len(graph.node)}")
    opsets = {item.domain: int(item.version) for item in proto.opset_import}
    constants = {item.name: onnx.numpy_helper.to_array(item) for item in graph.initializer}
    nodes = tuple(_node(onnx, helper, item, index, opsets) for index, item in enumerate(graph.node))
    return OnnxModel(
        nodes,
        constants,
        tuple(_edge(helper, item) for item in graph.input if item.name not in constants),
        tuple(_edge(helper, item) for item in graph.output),
    )


def _node(onnx: Any, helper: Any, item: Any, index: int, opsets: Mapping[str, int]) -> Node:
    attributes: dict[str, Any] = {}
    for attribute in item.attribute:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        elif isinstance(value, onnx.TensorProto):
            value = onnx.numpy_helper.to_array(value)
        attributes[attribute.name] = value
    is_own = item.domain in _DEFAULT_DOMAINS
    version = max((opsets.get(name, 0) for name in _DEFAULT_DOMAINS), default=0)
    return Node(
        index=index,
        kind=item.op_type if is_own else f"{item.domain}:{item.op_type}",
        name=item.name or (item.output[0] if item.output else ""),
        inputs=tuple(item.input),
        outputs=tuple(item.output),
        attributes=attributes,
        opset=version if is_own else opsets.get(item.domain, 1),
        source=item,
    )


def _edge(helper: Any, item: Any) -> Edge:
    kind = item.type.tensor_type
    dtype = None
    if item.type.HasField("tensor_type") and kind.elem_type:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    sizes = [size.dim_value if size.HasField("dim_value") else -1 for size in kind.shape.dim]
    return Edge(item.name, dtype, tuple(int(size) if size > 0 else -1 for size in sizes))


def evaluate(node: Node, operands: Sequence[Values | None]) -> list[Values] | None:
    """Return what an operator gives for constants, by ONNX's own definition; None if it cannot.

    Parameters
    ----------
    node : Node
        The operator.
    operands : sequence of array or None
        Its inputs; None for those that are left out.
    """
    if node.source is None or node.source.domain not in _DEFAULT_DOMAINS:
        return None
    helper = importlib.import_module("onnx.helper")
    present = {
        name: np.asarray(value)
        for name, value in zip(node.inputs, operands, strict=True)
        if name and value is not None
    }
    kinds = {
        name: helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape
        )
        for name, value in present.items()
    }
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.outputs if name]
    model = helper.make_model(
        helper.make_graph([node.source], "constant", list(kinds.values()), outputs),
        opset_imports=[helper.make_opsetid("", node.opset)],
    )
    try:
        with np.errstate(all="ignore"):
            evaluator = importlib.import_module("onnx.reference").ReferenceEvaluator(model)
            results = [np.asarray(value) for value in evaluator.run(None, present)]
    except (RuntimeError, TypeError, ValueError, IndexError, KeyError, NotImplementedError):
        # Any of them is how `onnx.reference` says that it cannot compute this: no constant then,
        # and the rules for operators name what is not supported.
        return None
    if sum(math.prod(value.shape) for value in results) > MAX_VALUES:
        return None
    return results
