"""int4 weights are int8 inside, where all their readers can have them."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.tflite.graph import Graph
from kiwicha.compiler.tflite.int4_as_int8 import widened
from kiwicha.compiler.tflite.reader import read
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.errors import ModelError, UnsupportedModelError
from tests.support.models.int4_layers import LAYERS, Int4Layer, packed
from tests.support.models.one_operator import CONV, Model
from tests.support.models.tflite_builder import INT4

VALUES = np.array([-8, 7, 0, -1, 3], np.int8)


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_values_and_scales_stay(layer: Int4Layer) -> None:
    narrow, wide = read(layer.model()), read(layer.model(is_int8=True))
    for one, other in zip(narrow.tensors, wide.tensors, strict=True):
        assert (one.type, one.shape) == (other.type, other.shape)
        np.testing.assert_array_equal(one.data, other.data)
        assert one.quantization is not None
        assert other.quantization is not None
        np.testing.assert_array_equal(one.quantization.scales, other.quantization.scales)


def test_the_first_value_has_the_low_bits() -> None:
    assert packed(VALUES) == b"\x78\xf0\x03"
    model = Model()
    x, y = model.activation("x", (1, 5)), model.activation("y", (1, 1))
    w = model.tensor((1, 5), name="w", scale=0.1, type_code=INT4, data=packed(VALUES))
    graph = read(model.single("FULLY_CONNECTED", [x, w], y))
    assert graph.tensors[w].int8s().tolist() == [VALUES.tolist()]


def test_other_readers_leave_them() -> None:
    """TRANSPOSE_CONV has no kernel for them."""
    model = Model()
    x, y, z = model.activation("x"), model.activation("y"), model.activation("z")
    w = model.tensor((2, 1, 1, 2), name="w", scale=0.1, type_code=INT4, data=b"\0\0")
    model.operator("CONV_2D", [x, w], [y], **CONV)
    model.operator("TRANSPOSE_CONV", [model.parameters([1, 4, 4, 2]), w, y], [z], **CONV)
    raw = model.build([x], [z])
    assert read(raw).tensors[w].type is TensorType.INT4
    with pytest.raises(UnsupportedModelError, match="weights must be int8 or uint8, not int4"):
        compile_model(raw, "simd")


def test_an_output_stays() -> None:
    model = Model()
    x, y = model.activation("x", (1, 2)), model.activation("y", (1, 2))
    w = model.tensor((2, 2), name="w", scale=0.1, type_code=INT4, data=b"\0\0")
    model.operator("FULLY_CONNECTED", [x, w], [y])
    assert read(model.build([x], [y])).tensors[w].type is TensorType.INT8
    assert read(model.build([x], [y, w])).tensors[w].type is TensorType.INT4


def test_tensors_of_one_place_share_what_they_become() -> None:
    """A damaged file may have as many of them as it likes."""
    layer = LAYERS[0]
    graph = read(layer.model())
    weights = graph.tensors[1]
    assert weights.data is not None
    narrow = dataclasses.replace(
        weights, type=TensorType.INT4, data=np.frombuffer(packed(layer.values()), np.uint8)
    )
    many = [dataclasses.replace(narrow, index=index) for index in range(50)]
    spent: list[int] = []
    found = widened(Graph(tuple(many), (), (), (), 1), spent.append)
    assert spent == [weights.elements]
    assert len({id(tensor.data) for tensor in found.tensors}) == 1


def test_data_of_another_size_is_refused() -> None:
    model = Model()
    x, y = model.activation("x", (1, 5)), model.activation("y", (1, 1))
    w = model.tensor((1, 5), name="w", scale=0.1, type_code=INT4, data=bytes(5))
    with pytest.raises(ModelError, match=r"data must have 3 bytes for int4 \[1, 5\], not 5"):
        read(model.single("FULLY_CONNECTED", [x, w], y))
