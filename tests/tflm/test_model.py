"""Files for TensorFlow Lite Micro: what is in them, and who computes what."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tflite

from kiwicha.compiler import compile_stages
from kiwicha.contract.cfu import ALIGNMENT_BYTES
from kiwicha.contract.configs import find_config
from kiwicha.errors import UnsupportedModelError, UsageError
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor as reference
from kiwicha.tflm import OPERATOR, Partitioned, divide, tflm_files, write_model
from kiwicha.tflm.resolver import method
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder
from tests.tflm.models import mixed

CASE = random_networks.network(5)


def divided(model: bytes, config: str = "baseline") -> Partitioned:
    return divide(model, find_config(config))


def described(raw: bytes) -> tuple[list[Any], list[Any]]:
    """Give what a file says of its inputs and outputs."""
    graph = tflite.Model.GetRootAs(raw, 0).Subgraphs(0)

    def of(index: int) -> Any:
        tensor = graph.Tensors(index)
        scales = tensor.Quantization()
        return (
            tensor.Name(),
            tensor.Type(),
            tensor.ShapeAsNumpy().tolist(),
            None if scales is None else np.asarray(scales.ScaleAsNumpy()).tolist(),
            None if scales is None else np.asarray(scales.ZeroPointAsNumpy()).tolist(),
        )

    return (
        [of(index) for index in graph.InputsAsNumpy()],
        [of(index) for index in graph.OutputsAsNumpy()],
    )


def operators(raw: bytes) -> list[str]:
    """Give the operators of a file; of our own, the name."""
    model = tflite.Model.GetRootAs(raw, 0)
    graph = model.Subgraphs(0)
    found = []
    for index in range(graph.OperatorsLength()):
        code = model.OperatorCodes(graph.Operators(index).OpcodeIndex())
        found.append((code.CustomCode() or b"").decode() or str(code.BuiltinCode()))
    return found


def programs(raw: bytes) -> list[bytes]:
    """Give the Programs in a file, each at a multiple of 16 bytes."""
    model = tflite.Model.GetRootAs(raw, 0)
    graph = model.Subgraphs(0)
    found = []
    for index, name in enumerate(operators(raw)):
        if name == OPERATOR:
            tensor = graph.Tensors(graph.Operators(index).Inputs(0))
            program = model.Buffers(tensor.Buffer()).DataAsNumpy().tobytes()
            assert tensor.ShapeAsNumpy().tolist() == [len(program)]
            assert raw.index(program) % ALIGNMENT_BYTES == 0
            found.append(program)
    return found


@pytest.mark.parametrize("config", ["baseline", "simd", "64"])
def test_a_supported_model_is_one_operator(config: str) -> None:
    partitioned = divided(CASE.model, config)
    raw = write_model("whole", partitioned)
    assert operators(raw) == [OPERATOR]
    assert programs(raw) == [compile_stages(CASE.model, config).program.to_bytes()]
    assert described(raw) == described(CASE.model)
    assert partitioned.left == ()
    # Weights are in the Program, and nowhere else.
    assert len(raw) < len(programs(raw)[0]) + 2048


def test_what_is_refused_stays() -> None:
    model = mixed()
    partitioned = divided(model)
    raw = write_model("mixed", partitioned)
    sine = str(tflite.BuiltinOperator.SIN)
    assert operators(raw) == [OPERATOR, sine, OPERATOR]
    assert partitioned.left == ("2 SIN",)
    assert described(raw) == described(model)
    first, second = (Program.from_bytes(program) for program in programs(raw))
    x = np.arange(-24, 24, dtype=np.int8).reshape(1, 4, 4, 3)
    (real,) = reference.run(first, [x])
    np.testing.assert_array_equal(real, np.float32(0.2) * (x.astype(np.float32) + 5))
    (y,) = reference.run(second, [np.sin(real)])
    assert len(np.unique(y)) > 8
    assert sorted(item.name for item in (*first.inputs, *second.outputs)) == ["x", "y"]
    found = tflite.Model.GetRootAs(raw, 0).SignatureDefs(0)
    assert (found.SignatureKey(), found.Inputs(0).Name()) == (b"serve", b"in")


def test_options_of_what_stays_are_copied() -> None:
    builder = ModelBuilder("options")
    shape = (1, 4, 4, 2)
    x = builder.tensor(shape, scale=0.1, name="x")
    real, pooled = (builder.tensor(size, np.float32) for size in (shape, (1, 2, 4, 2)))
    builder.operator("DEQUANTIZE", [x], [real])
    options = {"strideH": 2, "strideW": 1, "filterHeight": 2, "filterWidth": 1, "padding": 1}
    builder.operator("L2_POOL_2D", [real], [pooled], **options)
    raw = write_model("options", divided(builder.build([x], [pooled])))
    assert operators(raw) == [OPERATOR, str(tflite.BuiltinOperator.L2_POOL_2D)]
    stays = tflite.Model.GetRootAs(raw, 0).Subgraphs(0).Operators(1)
    table = tflite.Pool2DOptions()
    table.Init(stays.BuiltinOptions().Bytes, stays.BuiltinOptions().Pos)
    assert [table.StrideH(), table.StrideW(), table.FilterHeight(), table.Padding()] == [2, 1, 2, 1]


def test_a_model_of_which_nothing_is_supported_is_refused() -> None:
    builder = ModelBuilder("nothing")
    x, y = (builder.tensor((4,), np.float32) for _ in range(2))
    builder.operator("SIN", [x], [y])
    with pytest.raises(UnsupportedModelError, match="SIN #0"):
        divided(builder.build([x], [y]))


def test_only_tflite_models_stay_tflite_models() -> None:
    with pytest.raises(UsageError, match=r"must be given a \.tflite model"):
        divided(b"\x08\x08onnx")


def test_the_same_bytes_always() -> None:
    assert write_model("m", divided(mixed())) == write_model("m", divided(mixed()))


def test_the_command_writes_model_and_library(kiwicha: Any, tmp_path: Path) -> None:
    (tmp_path / "mixed.tflite").write_bytes(mixed())
    words = ("compile", tmp_path / "mixed.tflite", "--format", "tflite", "--config", "baseline")
    code, out, _ = kiwicha(*words, "-o", tmp_path / "out")
    assert code == 0
    assert "operator 2 SIN stays TensorFlow Lite Micro's own" in out
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"mixed.kiwicha.tflite", "mixed.tar.gz"}
    assert len(programs((tmp_path / "out" / "mixed.kiwicha.tflite").read_bytes())) == 2
    assert "--double-buffer" in kiwicha.error(*words, "--double-buffer")


HEADER_OF_TFLM = {
    "CONV_2D": "AddConv2D",
    "DEPTHWISE_CONV_2D": "AddDepthwiseConv2D",
    "FULLY_CONNECTED": "AddFullyConnected",
    "AVERAGE_POOL_2D": "AddAveragePool2D",
    "BATCH_MATMUL": "AddBatchMatMul",
    "CUMSUM": "AddCumSum",
    "PADV2": "AddPadV2",
    "SPLIT_V": "AddSplitV",
    "L2_NORMALIZATION": "AddL2Normalization",
    "RESIZE_NEAREST_NEIGHBOR": "AddResizeNearestNeighbor",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "AddUnidirectionalSequenceLSTM",
    "TFLite_Detection_PostProcess": "AddDetectionPostprocess",
    "SignalFilterBankSpectralSubtraction": "AddFilterBankSpectralSubtraction",
    "SignalPCAN": "AddPCAN",
    "CALL_ONCE": "AddCallOnce",
}


@pytest.mark.parametrize("name", HEADER_OF_TFLM)
def test_resolvers_have_methods_of_these_names(name: str) -> None:
    assert method(name) == HEADER_OF_TFLM[name]


def test_an_archive_has_all_that_its_users_build_with() -> None:
    partitioned = divided(mixed())
    model = write_model("mixed", partitioned)
    files = tflm_files("mixed", partitioned, model)
    assert {
        *("README.md", "LICENSE", "Makefile", "CMakeLists.txt", "example/main.cc"),
        *("tflm/kiwicha.h", "tflm/kiwicha.cc", "platform/platform.c", "mixed.kiwicha.tflite"),
    } <= set(files)
    others = {method(item.partition(" ")[2]) for item in partitioned.left}
    assert others
    header = files["model/mixed.h"].decode()
    assert f"#define MIXED_OPERATORS {1 + len(others)}\n" in header
    assert all(f"(void)(resolver).{each}(); \\" in header for each in others)
    readme = files["README.md"].decode()
    assert "KIWICHA_FACTS" not in readme
    assert f"| the model, which is only read | {len(model):,} bytes |" in readme
    for path in ("README.md", "example/main.cc"):
        text = files[path].decode()
        assert "mixed_tflite" in text
        assert "sample" not in text.lower()
