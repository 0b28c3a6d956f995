"""Models of the gallery: names, bytes, shapes, and that they are quantized sensibly."""

import re

import numpy as np
import pytest
import tflite

from kiwicha.errors import UsageError
from kiwicha.gallery import catalogue
from kiwicha.zoo import models as zoo
from tests.support.choices import by_day
from tests.support.models.gallery_models import NAMES, tiny


def graph_of(content: bytes) -> tflite.SubGraph:
    return tflite.Model.GetRootAs(content, 0).Subgraphs(0)


def shape(graph: tflite.SubGraph, index: int) -> list[int]:
    return graph.Tensors(index).ShapeAsNumpy().tolist()


def operators(content: bytes) -> list[str]:
    names = {code: name for name, code in vars(tflite.BuiltinOperator).items()}
    model = tflite.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    indices = [graph.Operators(i).OpcodeIndex() for i in range(graph.OperatorsLength())]
    return [names[model.OperatorCodes(i).BuiltinCode()] for i in indices]


def constants(content: bytes) -> list[bytes]:
    model = tflite.Model.GetRootAs(content, 0)
    buffers = [model.Buffers(i) for i in range(1, model.BuffersLength())]
    return [buffer.DataAsNumpy().tobytes() for buffer in buffers]


def test_the_same_seed_gives_the_same_bytes() -> None:
    first = tiny("yolov8n").content()
    assert tiny("yolov8n").content() == first
    other = catalogue.find("yolov8n@32,width=0.125,seed=1").content()
    assert len(constants(other)) == len(constants(first))
    weights = [values for values in constants(first) if len(values) > 100]
    assert not any(values in constants(other) for values in weights)


def test_no_name_is_one_of_the_zoo() -> None:
    names = {name for entry in zoo.entries() for name in (entry.name, *entry.aliases)}
    assert not names & set(NAMES)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("resnet18", "resnet18@224"),
        ("resnet18@96", "resnet18@96"),
        ("vgg11@64,uint8,seed=3,width=0.50", "vgg11@64,width=0.5,seed=3,uint8"),
        ("yolov5n@320,width=1,seed=0", "yolov5n@320"),
    ],
)
def test_a_name_has_one_form(text: str, name: str) -> None:
    assert catalogue.find(text).name == name
    assert catalogue.find(name) == catalogue.find(text)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("resnet9", f"architecture must be one of {', '.join(NAMES)}, not 'resnet9'"),
        ("yolov5n@100", "size of yolov5n must be a multiple of 32 from 32 to 2048, not 100"),
        ("inception3@74", "size of inception3 must be from 75 to 2048, not 74"),
        ("resnet18@64,width=9", "width must be 0.05 to 4, not 9"),
        ("resnet18@64,width=nan", "width must be 0.05 to 4, not nan"),
        ("resnet18@64,seed=-1", "seed must be 0 or more, not -1"),
        *(
            (
                f"resnet18@64,{word}",
                (
                    "options of a gallery model must be width=F, seed=S or uint8, "
                    f"not {word!r} (resnet18@64,{word})"
                ),
            )
            for word in ("depth=3", "seed", "seed=x", "int8")
        ),
        (
            "keyword_transformer@98,uint8",
            "keyword_transformer must be int8, not uint8, for which BATCH_MATMUL has no kernel",
        ),
        ("resnet18@", f"architecture must be one of {', '.join(NAMES)}, not 'resnet18@'"),
    ],
)
def test_what_is_not_possible_is_refused(text: str, error: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(error)}$"):
        catalogue.find(text)


def test_a_model_is_kept_in_the_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # A name comes before a file of the same name.
    (tmp_path / "mlp_mixer@32,width=0.125").write_bytes(b"x")
    name, path, labels = zoo.resolve("mlp_mixer@32,width=0.125")
    assert (name, labels) == ("mlp_mixer@32,width=0.125", ())
    assert path.is_relative_to(tmp_path)
    assert path.read_bytes() == tiny("mlp_mixer").content()


def test_a_file_may_be_called_like_a_model(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "resnet18@64.tflite").write_bytes(b"x")
    assert zoo.resolve("resnet18@64.tflite")[0] == "resnet18@64"
    with pytest.raises(UsageError, match="model must be a readable file, not missing"):
        zoo.resolve("./resnet18@64")


@pytest.mark.parametrize(
    ("name", "inputs", "outputs"),
    [
        ("resnet18@64", (1, 64, 64, 3), [[1, 1000]]),
        ("yolov5n@64", (1, 64, 64, 3), [[1, 3 * (64 + 16 + 4), 85]]),
        ("yolov8n@64", (1, 64, 64, 3), [[1, 4, 84], [1, 80, 84]]),
        ("ssdlite_mobilenet3@320", (1, 320, 320, 3), [[1, 2034, 4], [1, 2034, 91]]),
        ("unet@48", (1, 48, 48, 3), [[1, 48, 48, 21]]),
        ("keyword_mixer@98", (1, 98, 40, 1), [[1, 12]]),
        ("keyword_transformer@98", (1, 98, 40, 1), [[1, 12]]),
    ],
)
def test_shapes_are_those_of_the_architecture(
    name: str, inputs: tuple[int, ...], outputs: list[list[int]]
) -> None:
    graph = graph_of(catalogue.find(f"{name},width=0.1").content())
    assert shape(graph, graph.Inputs(0)) == list(inputs)
    assert [shape(graph, i) for i in graph.OutputsAsNumpy()] == outputs


@pytest.mark.parametrize(
    ("name", "count"),
    by_day(
        ("yolov8n@32", 3_151_904 + 1),
        ("yolov5n@32", 1_867_405),
        ("resnet18@32", 11_689_512 - 4_800),
        ("resnet50@32", 25_557_032 - 26_560),
        ("mobilenet2@32", 3_504_872 - 17_056),
        ("vgg11@224", 132_863_336),
    ),
)
def test_there_are_as_many_parameters_as_published(name: str, count: int) -> None:
    """Of a normalization that is folded, one parameter for each channel stays, of two.

    The 16 bins of YOLOv8 have a bias here.
    """
    content = catalogue.find(name).content()
    model = tflite.Model.GetRootAs(content, 0)
    graph = model.Subgraphs(0)
    found = 0
    for number, code in enumerate(operators(content)):
        operator = graph.Operators(number)
        if code in {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"}:
            found += sum(int(np.prod(shape(graph, operator.Inputs(i)))) for i in (1, 2))
    assert found == count


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("unet", {"TRANSPOSE_CONV", "CONCATENATION"}),
        ("shufflenet1", {"RESHAPE", "TRANSPOSE", "CONCATENATION", "AVERAGE_POOL_2D"}),
        ("shufflenet2", {"SPLIT", "TRANSPOSE", "CONCATENATION"}),
        ("yolov5n", {"LOGISTIC", "MUL", "MAX_POOL_2D", "RESIZE_NEAREST_NEIGHBOR"}),
        ("yolov8n", {"SOFTMAX", "SPLIT", "SPLIT_V", "TRANSPOSE"}),
        ("ssdlite_mobilenet3", {"HARD_SWISH", "MEAN", "ADD", "MUL", "LOGISTIC"}),
        ("densenet121", {"MUL", "ADD", "CONCATENATION", "AVERAGE_POOL_2D"}),
        ("keyword_mixer", {"TRANSPOSE", "FULLY_CONNECTED", "ADD"}),
        (
            "keyword_transformer",
            {"BATCH_MATMUL", "MUL", "RSQRT", "SOFTMAX", "SQUARED_DIFFERENCE", "TRANSPOSE"},
        ),
    ],
)
def test_architectures_have_the_operators_that_they_are_here_for(
    name: str, names: set[str]
) -> None:
    assert names <= set(operators(tiny(name).content()))


def test_concatenation_needs_no_other_quantization() -> None:
    """What is joined has one scale, by way of the ranges of both passes."""
    for name in ("densenet121", "yolov8n", "inception3", "unet"):
        assert "QUANTIZE" not in operators(tiny(name).content())


def test_weights_fill_the_bytes() -> None:
    model = tflite.Model.GetRootAs(tiny("vgg11").content(), 0)
    graph = model.Subgraphs(0)
    tensors = [graph.Tensors(i) for i in range(graph.TensorsLength())]
    weights = [
        model.Buffers(t.Buffer()).DataAsNumpy().view(np.int8)
        for t in tensors
        if t.Buffer() and t.Type() == tflite.TensorType.INT8
    ]
    for values in (one for one in weights if len(one) > 1000):
        assert abs(values.mean()) < 4
        assert 40 < values.std() < 50


def test_activations_have_zero_points() -> None:
    graph = graph_of(tiny("mobilenet2").content())
    computed = [graph.Operators(i).Outputs(0) for i in range(graph.OperatorsLength())]
    zero_points = {graph.Tensors(i).Quantization().ZeroPoint(0) for i in computed}
    assert 0 not in zero_points
    assert len(zero_points) > 5
