"""Writes ONNX models in QDQ form, and asks onnxruntime what they give."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.requirements import module

__all__ = ["OnnxCase", "QdqBuilder", "answers"]

OPSET = 20


@dataclass(frozen=True, eq=False)
class OnnxCase:
    """A model and its inputs."""

    model: bytes
    inputs: tuple[NDArray[Any], ...]


def answers(case: OnnxCase, *, is_optimized: bool = False) -> list[NDArray[Any]]:
    """Return what onnxruntime gives; by default it computes node by node, in float32."""
    runtime = module("onnxruntime", "onnxruntime")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    if not is_optimized:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(case.model, options, providers=["CPUExecutionProvider"])
    named = zip(session.get_inputs(), case.inputs, strict=True)
    results: list[NDArray[Any]] = session.run(None, {item.name: value for item, value in named})
    return results


class QdqBuilder:
    """Collects nodes; values are known by their names.

    Parameters
    ----------
    rng : random.Random
        Chooses types, scales and constants.
    opset : int
        Version of the operators.
    """

    def __init__(self, rng: random.Random, opset: int = OPSET) -> None:
        self.rng = rng
        self.numbers = np.random.default_rng(rng.getrandbits(64))
        self._helper = module("onnx.helper", "onnx")
        self._onnx = module("onnx", "onnx")
        self._opset = opset
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._values: list[NDArray[Any]] = []
        self.kind = rng.choice([np.int8, np.uint8])
        """Of activations."""
        self.last_scale = (1.0, 0)
        """Of the last input or requantization."""
        self.scales: dict[str, Any] = {}
        """Of what comes from a DequantizeLinear."""

    def _name(self) -> str:
        return f"v{len(self._nodes) + len(self._constants) + len(self._inputs)}"

    def constant(self, values: Any) -> str:
        """Add an initializer."""
        name = self._name()
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), name))
        return name

    def node(self, kind: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> Any:
        """Add an operator and return the name of its output, or the names."""
        name = self._name()
        names = [name] if outputs == 1 else [f"{name}_{k}" for k in range(outputs)]
        self._nodes.append(self._helper.make_node(kind, inputs, names, name=name, **attributes))
        return name if outputs == 1 else names

    def scale(self) -> tuple[float, int]:
        """Return a random scale and zero point."""
        limits = np.iinfo(self.kind)
        middle = (limits.min + limits.max + 1) // 2
        zero_point = self.rng.choice([middle, limits.min, self.rng.randint(limits.min, limits.max)])
        return float(np.float32(self.rng.uniform(0.002, 0.2))), zero_point

    def input(self, *shape: int) -> str:
        """Add an input of bytes and return its numbers."""
        name, limits = self._name(), np.iinfo(self.kind)
        element = self._helper.np_dtype_to_tensor_dtype(np.dtype(self.kind))
        self._inputs.append(self._helper.make_tensor_value_info(name, element, shape))
        values = self.numbers.integers(limits.min, limits.max + 1, shape)
        self._values.append(values.astype(self.kind))
        self.last_scale = self.scale()
        return self.dequantized(name, *self.last_scale)

    def dequantized(self, name: str, scale: Any, zero_point: Any, kind: Any = None) -> str:
        """Return the numbers of bytes."""
        result = self.node("DequantizeLinear", self._parameters(name, scale, zero_point, kind))
        self.scales[result] = scale
        return str(result)

    def _parameters(self, name: str, scale: Any, zero_point: Any, kind: Any) -> list[str]:
        zero_points = np.asarray(zero_point, kind or self.kind)
        return [name, self.constant(np.asarray(scale, np.float32)), self.constant(zero_points)]

    def weights(self, shape: Sequence[int], axis: int | None = None, scale: float = 0.02) -> str:
        """Return weights of random type, per tensor or per channel."""
        kind = self.rng.choice([np.int8, np.int8, np.uint8])
        limits = np.iinfo(kind)
        values = self.numbers.integers(limits.min, limits.max + 1, shape).astype(kind)
        middle = 0 if kind is np.int8 else 128
        data = self.constant(values)
        if axis is not None and self.rng.random() < 0.6:
            scales = self.numbers.uniform(scale / 8, scale, shape[axis]).astype(np.float32)
            zeros = np.full(shape[axis], middle, kind)
            parameters = [data, self.constant(scales), self.constant(zeros)]
            result = self.node("DequantizeLinear", parameters, axis=axis)
            self.scales[result] = scales
            return str(result)
        if self.rng.random() < 0.3:
            middle = self.rng.randint(limits.min, limits.max)
        return self.dequantized(data, scale, middle, kind)

    def bias(self, count: int, source: str, weights: str) -> str:
        """Return a bias in steps of the sums, as quantize_static writes it."""
        scales = np.float32(self.scales[source]) * np.asarray(self.scales[weights], np.float32)
        limit = int(2000 / max(np.max(scales) / np.min(scales), 1)) + 1
        values = self.numbers.integers(-limit, limit + 1, count).astype(np.int32)
        scales = scales.astype(np.float32)
        zeros = np.zeros(scales.shape, np.int32)
        parameters = [self.constant(values), self.constant(scales), self.constant(zeros)]
        return self.node("DequantizeLinear", parameters, axis=0)

    def numbers_of(self, name: str) -> NDArray[np.float32]:
        """Return what a value is for the model's inputs."""
        (values,) = answers(self._case([(name, np.dtype(np.float32), None)]))
        return values

    def requantized(
        self, name: str, scale: float | None = None, zero_point: int | None = None
    ) -> str:
        """Add QuantizeLinear and return the bytes; the scale fits the numbers that there are."""
        limits = np.iinfo(self.kind)
        if scale is None or zero_point is None:
            values = self.numbers_of(name)
            low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
            share = self.rng.choice([1.0, 1.0, 0.7])
            scale = float(np.float32(max((high - low) * share / 255, 1e-6)))
            zero_point = int(np.clip(round(limits.min - low * share / scale), *_ends(self.kind)))
        self.last_scale = (scale, zero_point)
        return self.node("QuantizeLinear", self._parameters(name, scale, zero_point, self.kind))

    def _case(self, outputs: Sequence[tuple[str, Any, Any]]) -> OnnxCase:
        helper = self._helper
        infos = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(kind), shape)
            for name, kind, shape in outputs
        ]
        graph = helper.make_graph(self._nodes, "random", self._inputs, infos, self._constants)
        opsets = [helper.make_opsetid("", self._opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return OnnxCase(model.SerializeToString(), tuple(self._values))

    def case(self, *outputs: str) -> OnnxCase:
        """Return the model with outputs of bytes."""
        unknown = self._case([(name, np.dtype(self.kind), None) for name in outputs])
        found = zip(outputs, answers(unknown), strict=True)
        return self._case([(name, values.dtype, values.shape) for name, values in found])


def _ends(kind: Any) -> tuple[int, int]:
    limits = np.iinfo(kind)
    return int(limits.min), int(limits.max)
