"""The helpers of the tests: a helper that cannot fail would hide what it should show."""

from pathlib import Path

import numpy as np
import pytest
import tflite

from kiwicha import cache as build_cache
from tests.support import requirements, tiers
from tests.support.models import random_models
from tests.support.models.tflite_builder import INT4, ModelBuilder
from tests.support.oracle import oracle


def softmax(depth: int) -> oracle.Case:
    builder = ModelBuilder()
    x = builder.tensor((1, depth), scale=0.1)
    y = builder.tensor((1, depth), scale=1 / 256, zero_point=-128)
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    return oracle.Case(builder.build([x], [y]), (np.zeros((1, depth), np.int8),))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_oracle_goes_on_behind_a_model_that_ends_the_interpreter(cache: Path) -> None:
    answers = oracle.ask([softmax(4), softmax(600), softmax(2), softmax(600)])
    for answer, value in ((answers[0], -64), (answers[2], 0)):
        assert answer.outputs is not None
        assert set(answer.outputs[0].reshape(-1).tolist()) == {value}
    for answer in (answers[1], answers[3]):
        assert answer.outputs is None
        assert "SIGABRT" in answer.error


def test_the_oracle_reports_a_refusal(cache: Path) -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 4), scale=0.1)
    y = builder.tensor((1, 4), scale=0.1)
    builder.operator("SOFTMAX", [x], [y], beta=1.0)
    case = oracle.Case(builder.build([x], [y]), (np.zeros((1, 4), np.int8),))
    (answer,) = oracle.ask([case])
    assert answer.outputs is None
    assert answer.error


def test_the_oracle_asks_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = oracle.ask([softmax(4)])
    assert list(cache.rglob("*.pickle"))
    monkeypatch.setattr(oracle, "_ask_workers", lambda *_: pytest.fail("asked again"))
    (again,) = oracle.ask([softmax(4)])
    np.testing.assert_array_equal(again.outputs, first[0].outputs)


def test_a_model_says_what_was_put_in() -> None:
    builder = ModelBuilder("words", code_fields="both")
    x = builder.tensor((1, 2), np.float32, name="in", shape_signature=(-1, 2))
    w = builder.tensor((3, 2), scale=[1, 2, 3], data=np.arange(6).reshape(3, 2))
    y = builder.tensor((1, 3), np.int16, scale=0.5, zero_point=7, axis=1)
    n = builder.tensor((4,), type_code=INT4, data=b"ab")
    builder.operator("FULLY_CONNECTED", [x, w, -1], [y], keepNumDims=True)
    model = tflite.Model.GetRootAsModel(builder.build([x], [y]), 0)
    graph = model.Subgraphs(0)
    assert model.Description() == b"words"
    assert model.OperatorCodes(0).BuiltinCode() == tflite.BuiltinOperator.FULLY_CONNECTED
    assert graph.Tensors(x).Name() == b"in"
    assert graph.Tensors(x).ShapeSignatureAsNumpy().tolist() == [-1, 2]
    types = [graph.Tensors(k).Type() for k in (x, w, y, n)]
    assert types == [
        tflite.TensorType.FLOAT32,
        tflite.TensorType.INT8,
        tflite.TensorType.INT16,
        tflite.TensorType.INT4,
    ]
    assert graph.Tensors(w).Quantization().ScaleAsNumpy().tolist() == [1, 2, 3]
    assert graph.Tensors(w).Quantization().ZeroPointAsNumpy().tolist() == [0, 0, 0]
    assert graph.Tensors(y).Quantization().ZeroPointAsNumpy().tolist() == [7]
    assert model.Buffers(graph.Tensors(w).Buffer()).DataAsNumpy().tolist() == list(range(6))
    assert graph.Operators(0).InputsAsNumpy().tolist() == [x, w, -1]
    options = tflite.FullyConnectedOptions()
    options.Init(graph.Operators(0).BuiltinOptions().Bytes, graph.Operators(0).BuiltinOptions().Pos)
    assert options.KeepNumDims()


def test_unknown_options_are_refused() -> None:
    builder = ModelBuilder()
    with pytest.raises(ValueError, match="option of ADD must be a field of AddOptions, not stride"):
        builder.operator("ADD", [], [], stride=1)


@pytest.mark.parametrize("operator", random_models.OPERATORS)
def test_a_seed_always_gives_the_same_model(operator: str) -> None:
    first, again, other = (random_models.single_operator(operator, seed) for seed in (3, 3, 4))
    assert first.model == again.model
    for a, b in zip(first.inputs, again.inputs, strict=True):
        np.testing.assert_array_equal(a, b)
    assert first.model != other.model


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Give a folder that KIWICHA_MODELS names behind an absent one, and a shared one."""
    named, shared = tmp_path / "named", tmp_path / "shared"
    named.mkdir()
    monkeypatch.setenv("KIWICHA_MODELS", f"{tmp_path / 'absent'}:{named}")
    monkeypatch.setattr(requirements, "SHARED_MODELS", shared)
    monkeypatch.delenv("CI", raising=False)
    return named, shared


def test_named_folders_come_first(folders: tuple[Path, Path]) -> None:
    named, shared = folders
    shared.mkdir()
    (shared / "m.tflite").write_bytes(b"shared")
    assert requirements.find_in_models("m.tflite") == shared / "m.tflite"
    (named / "m.tflite").write_bytes(b"named")
    assert requirements.find_in_models("m.tflite") == named / "m.tflite"


@pytest.mark.parametrize(
    ("is_ci", "has_shared", "outcome"),
    [
        (False, False, pytest.skip.Exception),
        (False, True, pytest.skip.Exception),
        (True, False, pytest.skip.Exception),
        (True, True, pytest.fail.Exception),
    ],
)
def test_a_missing_model(
    folders: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    is_ci: bool,
    has_shared: bool,
    outcome: type[BaseException],
) -> None:
    if is_ci:
        monkeypatch.setenv("CI", "true")
    if has_shared:
        folders[1].mkdir()
    with pytest.raises(outcome, match=r"needs absent.tflite in one of .*; set KIWICHA_MODELS"):
        requirements.find_in_models("absent.tflite")


@pytest.mark.parametrize(
    ("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)]
)
def test_a_missing_module(
    monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="needs module no_such_module: pip install no-such"):
        requirements.module("no_such_module", "no-such")
    assert requirements.module("math", "nothing").pi > 3


@pytest.mark.parametrize(
    ("kind", "marks", "missing"),
    [
        ("simulator", set(), "verilator"),
        ("benches", {"synth"}, "verilator"),
        ("synthesis", {"slow"}, "synth"),
        ("synthesis", {"synth", "nightly"}, None),
        ("firmware", set(), None),
    ],
)
def test_builds_need_their_marker(
    cache: Path, monkeypatch: pytest.MonkeyPatch, kind: str, marks: set[str], missing: str | None
) -> None:
    monkeypatch.setattr(build_cache, "build", lambda kind, key, builder: cache / kind / key)
    tiers.guard_builds(monkeypatch, lambda: marks)
    if missing is None:
        assert build_cache.build(kind, "key", lambda folder: None) == cache / kind / "key"
        return
    with pytest.raises(
        pytest.fail.Exception, match=f"{kind}/ of the cache must be marked {missing}"
    ):
        build_cache.build(kind, "key", lambda folder: None)
