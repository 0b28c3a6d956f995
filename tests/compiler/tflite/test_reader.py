"""Reading .tflite files, well-formed and hostile."""

import re
import struct
import time

import numpy as np
import pytest
import tflite
from hypothesis import given, settings
from hypothesis import strategies as st

from kiwicha.compiler import compile_model, read
from kiwicha.compiler.tflite.graph import Activation, Options, Padding
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.errors import KiwichaError, ModelError, UnsupportedModelError
from tests.support.models import random_models, random_networks
from tests.support.models.tflite_builder import CODE_FIELDS, ModelBuilder

SECONDS = 3.0
"""In which even a hostile file is answered; the usual time is some milliseconds."""
DAMAGED = (
    "the file must be a whole .tflite model, not a truncated or damaged one; "
    "fetch or convert it again"
)


def conv_builder() -> tuple[ModelBuilder, list[int], int]:
    builder = ModelBuilder()
    x = builder.tensor((1, 5, 4, 2), name="x", scale=0.5, zero_point=-3)
    weights = builder.tensor(
        (3, 2, 2, 2),
        name="weights",
        scale=[0.1, 0.2, 0.3],
        data=np.arange(-12, 12).reshape(3, 2, 2, 2),
    )
    bias = builder.tensor((3,), np.int32, name="bias", scale=[0.05, 0.1, 0.15], data=[7, 8, -9])
    y = builder.tensor((1, 3, 4, 3), name="y", scale=0.25, zero_point=4)
    return builder, [x, weights, bias], y


def conv_model() -> bytes:
    builder, operands, y = conv_builder()
    builder.operator(
        "CONV_2D", operands, [y], padding=0, strideH=2, strideW=1, fusedActivationFunction=3
    )
    return builder.build(operands[:1], [y])


def test_reads_everything() -> None:
    graph = read(conv_model())
    (operator,) = graph.operators
    assert (operator.index, operator.name) == (0, "CONV_2D")
    assert (graph.inputs, graph.outputs, graph.others) == ((0,), (3,), ())
    assert operator.options == Options(
        activation=Activation.RELU6, padding=Padding.SAME, stride_height=2, stride_width=1
    )
    x, weights, bias, _ = graph.tensors
    assert (x.name, x.shape, x.type, x.data) == ("x", (1, 5, 4, 2), TensorType.INT8, None)
    assert x.quantization is not None
    assert (x.quantization.scale, x.quantization.zero_point) == (0.5, -3)
    assert weights.quantization is not None
    assert weights.quantization.scales.tolist() == np.float32([0.1, 0.2, 0.3]).tolist()
    assert np.array_equal(weights.int8s(), np.arange(-12, 12).reshape(3, 2, 2, 2))
    assert bias.int32s().tolist() == [7, 8, -9]


def named_model(name: str, fields: str) -> bytes:
    builder = ModelBuilder(code_fields=fields)
    x, y, z = (builder.tensor((1, 2, 2, 1), scale=0.5) for _ in range(3))
    builder.operator(name, [x, y], [z])
    return builder.build([x, y], [z])


@pytest.mark.parametrize("fields", CODE_FIELDS)
@pytest.mark.parametrize("name", ["ADD", "MAXIMUM", "MINIMUM", "PRELU", "CUMSUM"])
def test_either_field_tells_the_operator(name: str, fields: str) -> None:
    """CUMSUM is above 127, so the deprecated field has the placeholder or nothing."""
    (operator,) = read(named_model(name, fields)).operators
    assert operator.name == name


def test_code_fields_differ_and_are_the_same_again() -> None:
    names = ["MAXIMUM", "MINIMUM", "PRELU"]
    files = {named_model("MAXIMUM", fields) for fields in CODE_FIELDS}
    assert len(files) == len(CODE_FIELDS)
    seen = set()
    for channels in range(1, 9):
        models = []
        for _ in range(2):
            builder = ModelBuilder()
            x = builder.tensor((1, channels))
            for name in names:
                builder.operator(name, [x, x], [builder.tensor((1, channels))])
            models.append(builder.build([x], [x + 1]))
        assert models[0] == models[1]
        model = tflite.Model.GetRootAs(models[0], 0)
        for index in range(len(names)):
            table = model.OperatorCodes(index)._tab
            seen.add((table.Offset(4) > 0, table.Offset(10) > 0))
    assert seen == {(True, True), (True, False), (False, True)}


@pytest.mark.parametrize("raw", [b"", b"TFL3", b"\x89PNG\r\n\x1a\n" * 4, b"#!/bin/sh\nexit 0\n"])
def test_refuses_other_files(raw: bytes) -> None:
    expected = (
        f"the file must be a TFLite model, with TFL3 in bytes 4 to 7, not {raw[4:8]!r} "
        f"in {len(raw)} bytes"
    )
    with pytest.raises(ModelError, match=f"^{re.escape(expected)}$"):
        read(raw)


def test_refuses_every_truncation() -> None:
    raw = conv_model()
    whole = compile_model(raw, "simd").to_bytes()
    texts = set()
    for size in range(len(raw)):
        try:
            # The last bytes may be padding: then nothing is missing.
            assert compile_model(raw[:size], "simd").to_bytes() == whole
        except ModelError as error:
            texts.add(str(error))
            continue
        assert size > len(raw) - 4
    # What a flatbuffer's reader says of them is for nobody.
    assert DAMAGED in texts
    assert not [text for text in texts if "requires a buffer" in text]


def test_refuses_wrong_data_size() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4), name="x", scale=1.0)
    y = builder.tensor((1, 4), name="y", scale=1.0, data=b"abc")
    z = builder.tensor((1, 4), name="z", scale=1.0)
    builder.operator("ADD", [x, y], [z])
    message = "tensor 1 (y): data must have 4 bytes for int8 [1, 4], not 3"
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        read(builder.build([x], [z]))


def test_names_have_no_line_breaks() -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), name=name, scale=1.0) for name in ("a\nb\0", "grün"))
    builder.operator("RELU", [x], [y])
    names = [tensor.name for tensor in read(builder.build([x], [y])).tensors]
    assert names == ["a\ufffdb\ufffd", "grün"]


def test_refuses_unknown_types() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4), name="x", scale=1.0, type_code=99)
    y = builder.tensor((1, 4), name="y", scale=1.0)
    builder.operator("SOFTMAX", [x], [y])
    message = "tensor 0 (x): type must be 0 to 18, not 99"
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        read(builder.build([x], [y]))


def test_refuses_missing_options() -> None:
    builder, operands, y = conv_builder()
    builder.operator("CONV_2D", operands, [y])
    builder.operators[0].table = ""
    message = "operator 0 CONV_2D: options must be a Conv2DOptions table, not union member 0"
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        read(builder.build(operands[:1], [y]))


def chain(order: str, inputs: str = "a", outputs: str = "d") -> bytes:
    """Return a model of SOFTMAX operators, each written as source and result."""
    builder = ModelBuilder()
    tensors = {name: builder.tensor((1, 4), name=name, scale=0.1) for name in "abcd"}
    for source, result in order.split():
        builder.operator("SOFTMAX", [tensors[source]], [tensors[result]], beta=1.0)
    return builder.build([tensors[i] for i in inputs], [tensors[o] for o in outputs])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            chain("ab cd bc"),
            (
                "operator 1 SOFTMAX: input tensor 2 (c) must be a constant, a model input or the "
                "output of an earlier operator"
            ),
        ),
        (
            chain("cb bc cd"),
            (
                "operator 0 SOFTMAX: input tensor 2 (c) must be a constant, a model input or the "
                "output of an earlier operator"
            ),
        ),
        (chain("ab ab bd"), "operator 1 SOFTMAX: output tensor 1 (b) must be written only once"),
        (chain("ab ba bd"), "operator 1 SOFTMAX: output tensor 0 (a) must be written only once"),
        (chain("ab bc"), "model output tensor 3 (d) must be computed by an operator"),
        (chain("ab bd", inputs="aa"), "model input tensor 0 (a) must be written only once"),
        (chain("ab bd", outputs=""), "the model must have at least one operator and one output"),
    ],
)
def test_refuses_bad_graphs(model: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        read(model)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([9], [1], "operator 0 SOFTMAX: inputs must be tensors 0 to 1, not 9"),
        ([0], [-1], "operator 0 SOFTMAX: outputs must be tensors 0 to 1, not -1"),
    ],
)
def test_refuses_bad_indices(inputs: list[int], outputs: list[int], message: str) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor((1, 4), name=name, scale=0.1) for name in "xy")
    builder.operator("SOFTMAX", inputs, outputs, beta=1.0)
    with pytest.raises(ModelError, match=f"^{re.escape(message)}$"):
        read(builder.build([x], [y]))


def test_refuses_shared_giants() -> None:
    """A large shape that thousands of tensors share is not read thousands of times."""
    builder = ModelBuilder()
    x = builder.tensor([1] * 20000 + [4], scale=0.1)
    y = builder.tensor((1, 4), scale=0.1)
    for _ in range(4000):
        builder.tensor((1, 4))
    builder.operator("RESHAPE", [x], [y])
    raw = bytearray(builder.build([x], [y]))
    table = tflite.Model.GetRootAs(raw, 0).Subgraphs(0)._tab
    vector = table.Vector(table.Offset(4))
    giant = table.Indirect(vector)
    for index in range(2, 4002):
        entry = vector + 4 * index
        # Tensors behind the entry only: offsets are not negative.
        if giant > entry:
            struct.pack_into("<I", raw, entry, giant - entry)
    started = time.monotonic()
    with pytest.raises(ModelError, match=f"^{re.escape(DAMAGED)}$"):
        read(bytes(raw))
    assert time.monotonic() - started < SECONDS


WORDS = st.one_of(
    st.integers(0, 255),
    st.sampled_from([0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 0x7FC00000, 0x7F800000]),
    st.integers(0, 0xFFFFFFFF),
)


@st.composite
def mutated_models(draw: st.DrawFn) -> bytes:
    """Overwrite some words of a model, and perhaps cut its end off."""
    raw = bytearray(draw(st.sampled_from(MODELS)))
    for _ in range(draw(st.integers(1, 6))):
        position = draw(st.integers(0, len(raw) - 4)) & -draw(st.sampled_from([1, 4]))
        size = draw(st.sampled_from([1, 4]))
        raw[position : position + size] = draw(WORDS).to_bytes(4, "little")[:size]
    return bytes(raw[: len(raw) - draw(st.just(0) | st.integers(0, len(raw)))])


MODELS = [conv_model(), chain("ab bc cd")]
MODELS += [random_networks.network(seed).model for seed in range(8)]
MODELS += [random_models.single_operator(name, 1).model for name in random_models.OPERATORS]


@settings(max_examples=400, deadline=SECONDS * 1000)
@given(mutated_models())
def test_mutated_files_end_in_an_answer(raw: bytes) -> None:
    message = ""
    try:
        program = compile_model(raw, "simd")
    except KiwichaError as error:
        message = str(error)
        most = UnsupportedModelError.SCREEN[0] if isinstance(error, UnsupportedModelError) else 1
    else:
        message, most = f"{len(program.layers)} layers", 1
    assert message
    assert len(message.splitlines()) <= most
