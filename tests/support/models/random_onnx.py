"""Random ONNX models of one operator in QDQ form."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.models.qdq_builder import OnnxCase, QdqBuilder

__all__ = ["OPERATORS", "single_operator"]


def single_operator(operator: str, seed: int) -> OnnxCase:
    """Return a model of one operator, with random inputs."""
    model = QdqBuilder(random.Random(f"{operator} {seed}"))
    names = OPERATORS[operator](model)
    return model.case(*([names] if isinstance(names, str) else names))


def _size(model: QdqBuilder, most: int = 9) -> int:
    return model.rng.randint(3, most)


def _image(model: QdqBuilder, most: int = 8) -> tuple[int, int, int, int]:
    rng = model.rng
    return rng.choice([1, 1, 2]), rng.randint(1, most), _size(model), _size(model)


def _activated(model: QdqBuilder, name: str) -> str:
    """Return a layer's output, perhaps behind an activation that it takes over."""
    choice = model.rng.random()
    if choice < 0.2:
        return model.node("Relu", [name])
    if choice < 0.4:
        low, high = sorted(model.numbers.uniform(-1, 3, 2).astype(np.float32))
        return model.node("Clip", [name, model.constant(low), model.constant(high)])
    return name


def _window(model: QdqBuilder, *, has_dilation: bool = True) -> dict[str, Any]:
    rng = model.rng
    kernel = [rng.randint(1, 3), rng.randint(1, 3)]
    attributes: dict[str, Any] = {
        "kernel_shape": kernel,
        "strides": [rng.randint(1, 2), rng.randint(1, 2)],
    }
    dilations = [1, 1]
    if has_dilation and rng.random() < 0.2:
        dilations = [rng.randint(1, 2), rng.randint(1, 2)]
        attributes["dilations"] = dilations
    if rng.random() < 0.2:
        attributes["auto_pad"] = rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"])
        if "SAME" in attributes["auto_pad"]:
            attributes.pop("dilations", None)
            attributes["strides"] = [min(pair) for pair in zip(kernel, [2, 1], strict=True)]
    elif rng.random() < 0.7:
        attributes["pads"] = [rng.randint(0, kernel[k % 2] - 1) for k in range(4)]
    return attributes


def _conv(model: QdqBuilder) -> str:
    rng = model.rng
    batch, channels, height, width = _image(model)
    style = rng.random()
    groups = channels if style < 0.35 else rng.choice([g for g in (1, 1, 2) if channels % g == 0])
    outputs = groups * rng.randint(1, 4)
    window = _window(model)
    source = model.input(batch, channels, height + 2, width + 2)
    kernel = model.weights((outputs, channels // groups, *window["kernel_shape"]), 0)
    inputs = [source, kernel]
    inputs += [model.bias(outputs, source, kernel)] if rng.random() < 0.7 else []
    result = model.node("Conv", inputs, group=groups, **window)
    return model.requantized(_activated(model, result))


def _conv_signal(model: QdqBuilder) -> str:
    channels, outputs, side = model.rng.randint(1, 6), model.rng.randint(1, 6), _size(model, 20)
    source = model.input(1, channels, side)
    kernel = model.weights((outputs, channels, 3), 0)
    pads = [model.rng.randint(0, 2), model.rng.randint(0, 2)]
    result = model.node("Conv", [source, kernel], pads=pads, strides=[model.rng.randint(1, 2)])
    return model.requantized(result)


def _conv_transpose(model: QdqBuilder) -> str:
    rng = model.rng
    batch, channels, height, width = _image(model, 6)
    height, width = height + 2, width + 2
    groups = rng.choice([g for g in (1, 1, 2) if channels % g == 0])
    per_group = rng.randint(1, 4)
    kernel = [rng.randint(1, 4), rng.randint(1, 4)]
    strides = [rng.randint(1, 3), rng.randint(1, 3)]
    attributes: dict[str, Any] = {"strides": strides, "group": groups}
    attributes["pads"] = [rng.randint(0, kernel[k % 2] - 1) for k in range(4)]
    attributes["output_padding"] = [rng.randint(0, step - 1) for step in strides]
    if rng.random() < 0.2:
        attributes["dilations"] = [2, 1]
    source = model.input(batch, channels, height, width)
    weights = model.weights((channels, per_group, *kernel), 1)
    inputs = [source, weights]
    if groups == 1 and rng.random() < 0.5:
        inputs.append(model.bias(per_group, source, weights))
    return model.requantized(_activated(model, model.node("ConvTranspose", inputs, **attributes)))


def _gemm(model: QdqBuilder) -> str:
    rows, depth, outputs = model.rng.randint(1, 3), model.rng.randint(1, 40), _size(model)
    is_turned = model.rng.random() < 0.5
    shape, axis = ((outputs, depth), 0) if is_turned else ((depth, outputs), 1)
    source = model.input(rows, depth)
    inputs = [source, model.weights(shape, axis)]
    factors = {"alpha": 0.5, "beta": 2.0} if model.rng.random() < 0.2 else {}
    inputs += [model.bias(outputs, *inputs)] if model.rng.random() < 0.7 else []
    result = model.node("Gemm", inputs, transB=int(is_turned), **factors)
    return model.requantized(_activated(model, result))


def _mat_mul(model: QdqBuilder) -> str:
    shape = [model.rng.randint(1, 4) for _ in range(model.rng.randint(1, 3))]
    depth, outputs = model.rng.randint(1, 40), _size(model)
    source = model.input(*shape, depth)
    kernel = model.weights((depth, outputs), 1)
    return model.requantized(model.node("MatMul", [source, kernel]))


def _flat(model: QdqBuilder) -> str:
    """Return a matrix behind images: rows are in the order of NCHW."""
    _, channels, height, width = _image(model)
    source = model.input(1, channels, height, width)
    kernel = model.weights((4, channels, 1, 1), 0)
    image = model.requantized(model.node("Conv", [source, kernel]))
    scale, zero_point = model.last_scale
    flat = model.node("Flatten", [model.dequantized(image, scale, zero_point)])
    matrix = model.weights((4 * height * width, 5), 1, 0.01)
    return model.requantized(model.node("Gemm", [flat, matrix]))


def _pair(kind: str) -> Callable[[QdqBuilder], str]:
    def build(model: QdqBuilder) -> str:
        shape = _image(model)
        first = model.input(*shape)
        style = model.rng.random()
        if style < 0.3:
            other = [1 if model.rng.random() < 0.4 else size for size in shape]
            second = model.input(*other[model.rng.randint(0, 3) :])
        elif style < 0.5:
            values = model.numbers.integers(-128, 128, (shape[1], 1, 1)).astype(np.int8)
            second = model.dequantized(model.constant(values), 0.03, 5, np.int8)
        elif style < 0.6:
            second = model.constant(np.float32(model.rng.uniform(0.1, 3)))
        else:
            second = model.input(*shape)
        inputs = [second, first] if model.rng.random() < 0.3 else [first, second]
        return model.requantized(_activated(model, model.node(kind, inputs)))

    return build


def _function(kind: str, **attributes: float) -> Callable[[QdqBuilder], str]:
    def build(model: QdqBuilder) -> str:
        source = model.input(1, 256)
        return model.requantized(model.node(kind, [source], **attributes))

    return build


def _clip(model: QdqBuilder) -> str:
    source = model.input(1, 256)
    low, high = sorted(model.numbers.uniform(-2, 2, 2).astype(np.float32))
    bounds = [model.constant(low), model.constant(high)]
    return model.requantized(model.node("Clip", [source, *bounds]))


def _swish(model: QdqBuilder) -> str:
    """Return a chain of functions without quantization between them."""
    source = model.input(1, 256)
    return model.requantized(model.node("Mul", [source, model.node("Sigmoid", [source])]))


def _softmax(model: QdqBuilder) -> str:
    shape = _image(model)
    axis = model.rng.choice([1, -1, 2])
    source = model.input(*shape)
    zero_point = int(np.iinfo(model.kind).min)
    result = model.node("Softmax", [source], axis=axis)
    return model.requantized(result, 1 / 256, zero_point)


def _max_pool(model: QdqBuilder) -> str:
    batch, channels, height, width = _image(model)
    window = _window(model, has_dilation=False)
    if model.rng.random() < 0.3 and "auto_pad" not in window:
        window["ceil_mode"] = 1
    source = model.input(batch, channels, height, width)
    return model.requantized(model.node("MaxPool", [source], **window))


def _average_pool(model: QdqBuilder) -> str:
    batch, channels, height, width = _image(model)
    window = _window(model, has_dilation=False)
    source = model.input(batch, channels, height, width)
    if model.rng.random() < 0.4:
        window.pop("pads", None)
        return model.requantized(model.node("AveragePool", [source], **window), *model.last_scale)
    result = model.node("AveragePool", [source], count_include_pad=1, **window)
    return model.requantized(result)


def _global_average_pool(model: QdqBuilder) -> str:
    source = model.input(*_image(model))
    return model.requantized(model.node("GlobalAveragePool", [source]))


def _reduce_mean(model: QdqBuilder) -> str:
    source = model.input(*_image(model))
    axes = sorted(model.rng.sample(range(4), model.rng.randint(1, 3)))
    keeps = model.rng.randint(0, 1)
    inputs = [source, model.constant(np.array(axes, np.int64))]
    return model.requantized(model.node("ReduceMean", inputs, keepdims=keeps))


def _concat(model: QdqBuilder) -> str:
    shape, axis = list(_image(model)), model.rng.randint(0, 3)
    inputs = []
    for _ in range(model.rng.randint(2, 4)):
        shape[axis] = model.rng.randint(1, 4)
        inputs.append(model.input(*shape))
    return model.requantized(model.node("Concat", inputs, axis=axis))


def _split(model: QdqBuilder) -> list[str]:
    shape, axis = list(_image(model)), model.rng.randint(1, 3)
    sizes = [model.rng.randint(1, 4) for _ in range(3)]
    shape[axis] = sum(sizes)
    source = model.input(*shape)
    given = model.constant(np.array(sizes, np.int64))
    return [model.requantized(name) for name in model.node("Split", [source, given], 3, axis=axis)]


def _slice(model: QdqBuilder) -> str:
    shape = _image(model)
    source = model.input(*shape)
    axes, starts, ends, steps = [], [], [], []
    for axis in model.rng.sample(range(4), model.rng.randint(1, 4)):
        first = model.rng.randint(0, shape[axis] - 1)
        last = model.rng.randint(first, shape[axis] - 1)
        is_turned = model.rng.random() < 0.2
        axes.append(axis)
        starts.append(last if is_turned else first)
        ends.append((first - 1 if first else -100) if is_turned else last + 1)
        steps.append((-1 if is_turned else 1) * model.rng.randint(1, 2))
    numbers = [model.constant(np.array(item, np.int64)) for item in (starts, ends, axes, steps)]
    return model.requantized(model.node("Slice", [source, *numbers]))


def _pad(model: QdqBuilder) -> str:
    shape = _image(model)
    source = model.input(*shape)
    if model.rng.random() < 0.3:
        pads = [model.rng.randint(0, min(2, size - 1)) for size in (*shape, *shape)]
        given = model.constant(np.array(pads, np.int64))
        return model.requantized(model.node("Pad", [source, given], mode="reflect"))
    pads = [model.rng.randint(0, 2) for _ in range(8)]
    inputs = [source, model.constant(np.array(pads, np.int64))]
    if model.rng.random() < 0.5:
        # One of the numbers that the input has, or the scale of the input would round it.
        value = model.numbers_of(source).reshape(-1)[0]
        inputs.append(model.constant(np.float32(value)))
    return model.requantized(model.node("Pad", inputs))


def _resize(mode: str) -> Callable[[QdqBuilder], str]:
    def build(model: QdqBuilder) -> str:
        rng = model.rng
        batch, channels, height, width = _image(model)
        source = model.input(batch, channels, height, width)
        scale, zero_point = model.last_scale
        attributes = {"mode": mode}
        modes = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
        attributes["coordinate_transformation_mode"] = rng.choice(modes)
        if mode == "nearest":
            roundings = ["floor", "ceil", "round_prefer_floor", "round_prefer_ceil"]
            attributes["nearest_mode"] = rng.choice(roundings)
        if rng.random() < 0.5:
            factors = [1.0, 1.0, float(rng.randint(1, 3)), float(rng.randint(1, 3))]
            inputs = [source, "", model.constant(np.array(factors, np.float32))]
        else:
            sizes = [batch, channels, rng.randint(2, 12), rng.randint(2, 12)]
            inputs = [source, "", "", model.constant(np.array(sizes, np.int64))]
        result = model.node("Resize", inputs, **attributes)
        return model.requantized(result, scale, zero_point)

    return build


def _transpose(model: QdqBuilder) -> str:
    source = model.input(*_image(model))
    permutation = model.rng.sample(range(4), 4)
    return model.requantized(model.node("Transpose", [source], perm=permutation))


def _reshape(model: QdqBuilder) -> str:
    """Return images under other shapes, in which rows and channels mix."""
    batch, channels, height, width = 1, 2 * model.rng.randint(1, 4), _size(model), _size(model)
    source = model.input(batch, channels, height, width)
    kernel = model.weights((4, channels, 1, 1), 0)
    image = model.requantized(model.node("Conv", [source, kernel]))
    real = model.dequantized(image, *model.last_scale)
    shapes = ([1, 4, -1], [2, 2, -1], [1, 2, 2, height, width], [0, -1], [4, height, -1, 1])
    shape = model.constant(np.array(model.rng.choice(shapes), np.int64))
    result = model.node("Reshape", [real, shape])
    if model.rng.random() < 0.5:
        result = model.node("Transpose", [result])
    return model.requantized(result)


def _squeeze(model: QdqBuilder) -> str:
    source = model.input(1, model.rng.randint(1, 5), 1, _size(model))
    first = model.node("Squeeze", [source, model.constant(np.array([2], np.int64))])
    axes = model.constant(np.array([0, -1], np.int64))
    return model.requantized(model.node("Unsqueeze", [first, axes]))


def _flatten(model: QdqBuilder) -> str:
    source = model.input(*_image(model))
    return model.requantized(model.node("Flatten", [source], axis=model.rng.randint(0, 4)))


def _gather(model: QdqBuilder) -> str:
    shape, axis = _image(model), model.rng.randint(0, 3)
    source = model.input(*shape)
    count = model.rng.randint(1, 5)
    indices = model.numbers.integers(-shape[axis], shape[axis], count)
    chosen = indices[0] if model.rng.random() < 0.3 else indices
    return model.requantized(
        model.node("Gather", [source, model.constant(np.asarray(chosen, np.int64))], axis=axis)
    )


def _depth_to_space(model: QdqBuilder) -> str:
    size = model.rng.randint(1, 3)
    source = model.input(1, size * size * model.rng.randint(1, 4), _size(model), _size(model))
    mode = model.rng.choice(["DCR", "CRD"])
    return model.requantized(model.node("DepthToSpace", [source], blocksize=size, mode=mode))


def _space_to_depth(model: QdqBuilder) -> str:
    size, channels = model.rng.randint(1, 3), model.rng.randint(1, 4)
    source = model.input(1, channels, size * model.rng.randint(1, 4), size * 3)
    return model.requantized(model.node("SpaceToDepth", [source], blocksize=size))


def _identity(model: QdqBuilder) -> str:
    return model.requantized(model.node("Identity", [model.input(*_image(model))]))


OPERATORS: dict[str, Callable[[QdqBuilder], str | list[str]]] = {
    "Add": _pair("Add"),
    "AveragePool": _average_pool,
    "Clip": _clip,
    "Concat": _concat,
    "Conv": _conv,
    "Conv of signals": _conv_signal,
    "ConvTranspose": _conv_transpose,
    "DepthToSpace": _depth_to_space,
    "Flatten": _flatten,
    "Flatten and Gemm": _flat,
    "Gather": _gather,
    "Gemm": _gemm,
    "GlobalAveragePool": _global_average_pool,
    "HardSigmoid": _function("HardSigmoid"),
    "HardSwish": _function("HardSwish"),
    "Identity": _identity,
    "LeakyRelu": _function("LeakyRelu", alpha=0.1),
    "MatMul": _mat_mul,
    "MaxPool": _max_pool,
    "Mul": _pair("Mul"),
    "Pad": _pad,
    "ReduceMean": _reduce_mean,
    "Relu": _function("Relu"),
    "Reshape": _reshape,
    "Resize linear": _resize("linear"),
    "Resize nearest": _resize("nearest"),
    "Sigmoid": _function("Sigmoid"),
    "Sigmoid and Mul": _swish,
    "Slice": _slice,
    "Softmax": _softmax,
    "SpaceToDepth": _space_to_depth,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sub": _pair("Sub"),
    "Tanh": _function("Tanh"),
    "Transpose": _transpose,
}
"""By the name of the operator, or of what is around it."""
