"""The writer of .tflite files, read back with the schema's readers."""

import numpy as np
import pytest
import tflite

from kiwicha.tflite_writer.builder import ModelBuilder


def softmaxes(versions: list[int]) -> bytes:
    """Give a model of as many SOFTMAX operators in a row."""
    builder = ModelBuilder("softmaxes")
    tensors = [builder.tensor((1, 4), scale=0.5, zero_point=3) for _ in range(len(versions) + 1)]
    for index, version in enumerate(versions):
        operands = tensors[index : index + 1], tensors[index + 1 : index + 2]
        builder.operator("SOFTMAX", *operands, version=version, beta=1.5)
    return builder.build(tensors[:1], tensors[-1:])


def test_versions_of_an_operator_are_told_apart() -> None:
    model = tflite.Model.GetRootAsModel(softmaxes([1, 2, 1]), 0)
    graph = model.Subgraphs(0)
    used = [graph.Operators(i).OpcodeIndex() for i in range(3)]
    assert model.OperatorCodesLength() == 2
    assert [model.OperatorCodes(i).Version() for i in used] == [1, 2, 1]
    assert [graph.Inputs(0), graph.Outputs(0)] == [0, 3]
    assert graph.Tensors(0).Quantization().ZeroPoint(0) == 3


def test_both_fields_hold_the_operator_code() -> None:
    builder = ModelBuilder("codes")
    x, y, z = (builder.tensor((1, 4), scale=0.5) for _ in range(3))
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    builder.operator("BROADCAST_TO", [y], [z])
    model = tflite.Model.GetRootAsModel(builder.build([x], [z]), 0)
    codes = [model.OperatorCodes(i) for i in range(2)]
    assert [code.BuiltinCode() for code in codes] == [25, 130]
    assert [code.DeprecatedBuiltinCode() for code in codes] == [25, 127]


@pytest.mark.parametrize(
    ("code", "options", "table"),
    [
        ("CONV_2D", {"strideW": 2}, "Conv2DOptions"),
        ("AVERAGE_POOL_2D", {"filterWidth": 2}, "Pool2DOptions"),
        ("REDUCE_ALL", {"keepDims": True}, "ReducerOptions"),
        ("REDUCE_ANY", {"keepDims": True}, "ReducerOptions"),
        ("REDUCE_MIN", {"keepDims": True}, "ReducerOptions"),
        ("MAXIMUM", {}, "MaximumMinimumOptions"),
        ("L2_NORMALIZATION", {}, "L2NormOptions"),
        ("BATCH_TO_SPACE_ND", {}, "BatchToSpaceNDOptions"),
        ("LOGISTIC", {}, "NONE"),
    ],
)
def test_operators_have_their_tables_of_options(
    code: str, options: dict[str, int], table: str
) -> None:
    builder = ModelBuilder("options")
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    builder.operator(code, [x], [y], **options)
    model = tflite.Model.GetRootAsModel(builder.build([x], [y]), 0)
    operator = model.Subgraphs(0).Operators(0)
    assert operator.BuiltinOptionsType() == getattr(tflite.BuiltinOptions, table)


def test_options_without_a_table_are_refused() -> None:
    builder = ModelBuilder("options")
    x, y = builder.tensor((1, 4)), builder.tensor((1, 4))
    with pytest.raises(ValueError, match="LOGISTIC must be without options, not with keepDims"):
        builder.operator("LOGISTIC", [x], [y], keepDims=True)


def test_constants_are_aligned_for_readers_in_place() -> None:
    builder = ModelBuilder("constants")
    for count in range(1, 20):
        builder.tensor((count,), data=np.arange(count))
    content = builder.build([], [])
    model = tflite.Model.GetRootAsModel(content, 0)
    start = np.frombuffer(content, np.uint8).ctypes.data
    for index in range(1, model.BuffersLength()):
        data = model.Buffers(index).DataAsNumpy()
        assert data.tolist() == list(range(index))
        assert (data.ctypes.data - start) % 16 == 0
