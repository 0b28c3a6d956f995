"""Models of one operator with sensible operands, of which a test changes one."""

from typing import Any

import numpy as np

from tests.support.models.tflite_builder import ModelBuilder

__all__ = [
    "CONV",
    "POOL",
    "SOFTMAX_OUT",
    "UNSIGNED",
    "Model",
    "connected",
    "constant_output",
    "conv",
    "depthwise",
    "mean",
    "pad",
    "pair",
    "two_outputs",
    "two_subgraphs",
    "unary",
    "variable",
]

CONV: dict[str, Any] = {"padding": 0, "strideH": 1, "strideW": 1}
SOFTMAX_OUT = {"scale": 1 / 256, "zero_point": -128}
UNSIGNED: dict[str, Any] = {"dtype": np.uint8, "zero_point": 128}
POOL: dict[str, Any] = CONV | {"filterHeight": 2, "filterWidth": 2}

SMALL = (1, 4, 4, 2)


class Model(ModelBuilder):
    """A builder with one operator of sensible operands, of which a test changes one."""

    def activation(self, name: str, shape: tuple[int, ...] = SMALL, **changes: Any) -> int:
        """Add an int8 tensor."""
        return self.tensor(shape, name=name, **({"scale": 0.5} | changes))

    def weights(self, shape: tuple[int, ...], **changes: Any) -> int:
        """Add int8 weights."""
        values = np.zeros(shape, changes.get("dtype", np.int8))
        return self.tensor(shape, name="w", **({"scale": 0.1, "data": values} | changes))

    def bias(self, count: int, **changes: Any) -> int:
        """Add an int32 bias."""
        values = np.zeros(count, np.int32)
        return self.tensor(
            (count,), **({"dtype": np.int32, "name": "b", "scale": 0.05, "data": values} | changes)
        )

    def parameters(self, values: Any, dtype: Any = np.int32, **changes: Any) -> int:
        """Add a constant of axes or paddings."""
        array = np.asarray(values, dtype)
        return self.tensor(array.shape, dtype, name="p", **({"data": array} | changes))

    def single(self, code: str, inputs: list[int], output: int, **options: Any) -> bytes:
        """Add the only operator and return the model."""
        self.operator(code, inputs, [output], **options)
        constants = {i for i, t in enumerate(self.tensors) if t.data is not None}
        return self.build([i for i in inputs if i >= 0 and i not in constants], [output])


def unary(code: str, x: dict[str, Any], y: dict[str, Any], **options: Any) -> bytes:
    model = Model()
    return model.single(code, [model.activation("x", **x)], model.activation("y", **y), **options)


def pair(code: str, a: dict[str, Any], b: dict[str, Any], y: dict[str, Any], **o: Any) -> bytes:
    model = Model()
    operands = [model.activation("a", **a), model.activation("b", **b)]
    return model.single(code, operands, model.activation("y", **y), **o)


def conv(
    x: dict[str, Any] | None = None,
    w: dict[str, Any] | None = None,
    b: dict[str, Any] | None = None,
    y: dict[str, Any] | None = None,
    **options: Any,
) -> bytes:
    model = Model()
    operands = [
        model.activation("x", **(x or {})),
        model.weights(**({"shape": (3, 1, 1, 2)} | (w or {}))),
        model.bias(**({"count": 3} | (b or {}))),
    ]
    output = model.activation("y", **({"shape": (1, 4, 4, 3)} | (y or {})))
    return model.single("CONV_2D", operands, output, **(CONV | options))


def depthwise(shape: tuple[int, ...], channels: int, **options: Any) -> bytes:
    model = Model()
    operands = [model.activation("x"), model.weights(shape)]
    output = model.activation("y", (1, 4, 4, channels))
    return model.single("DEPTHWISE_CONV_2D", operands, output, **(CONV | options))


def connected(
    x: tuple[int, ...], w: tuple[int, ...], y: tuple[int, ...], b: float = 0.05, **options: Any
) -> bytes:
    model = Model()
    operands = [model.activation("x", x), model.weights(w), model.bias(w[0], scale=b)]
    return model.single("FULLY_CONNECTED", operands, model.activation("y", y), **options)


def mean(
    axes: Any,
    y: tuple[int, ...],
    x: tuple[int, ...] = SMALL,
    scale: float = 0.5,
    code: str = "MEAN",
    **changes: Any,
) -> bytes:
    model = Model()
    operands = [model.activation("x", x, scale=scale), model.parameters(axes, **changes)]
    return model.single(code, operands, model.activation("y", y))


def pad(amounts: Any, y: tuple[int, ...]) -> bytes:
    model = Model()
    operands = [model.activation("x", (2, 3)), model.parameters(amounts)]
    return model.single("PAD", operands, model.activation("y", y))


class Doubled(Model):
    """A model whose subgraph is there twice."""

    def subgraphs(self, *arguments: Any) -> list[int]:
        return super().subgraphs(*arguments) * 2


def two_subgraphs() -> bytes:
    model = Doubled()
    x, y = model.activation("x"), model.activation("y")
    model.operator("RESHAPE", [x], [y])
    return model.build([x], [y])


def constant_output() -> bytes:
    model = Model()
    x, y, c = model.activation("x"), model.activation("y"), model.weights(SMALL)
    model.operator("RESHAPE", [x], [y])
    return model.build([x], [y, c])


def variable() -> bytes:
    model = Model()
    x, y = model.activation("x"), model.activation("y")
    state = model.activation("state")
    model.tensors[state].is_variable = True
    model.operator("ADD", [x, state], [y])
    return model.build([x], [y])


def two_outputs() -> bytes:
    model = Model()
    x, y, z = model.activation("x"), model.activation("y"), model.activation("z")
    model.operator("RESHAPE", [x], [y, z])
    return model.build([x], [y])
