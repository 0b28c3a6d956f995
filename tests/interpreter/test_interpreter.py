"""The interpreter takes the place of LiteRT's: only the import line of a script changes."""

import enum
import importlib
import importlib.util
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha import Interpreter
from kiwicha.compiler import compile_model
from kiwicha.errors import ModelError, UsageError
from kiwicha.sim.reference.executor import Session
from tests.support import requirements
from tests.support.models import random_networks
from tests.support.models.streaming import STREAMING, sets
from tests.support.models.tflite_builder import ModelBuilder

LITERT = "from ai_edge_litert.interpreter import Interpreter"
KIWICHA = "from kiwicha.interpreter.interpreter import Interpreter"
SCRIPT = """
import sys
import numpy as np
{import_line}

interpreter = Interpreter(model_path=sys.argv[1], num_threads=1)
interpreter.allocate_tensors()
image = interpreter.get_input_details()[0]
scores = interpreter.get_output_details()[0]
for details in (image, scores):
    print([(key, str(details[key])) for key in sorted(details)])
info = np.iinfo(image["dtype"])
rng = np.random.default_rng(1)
pixels = rng.integers(info.min, info.max + 1, image["shape"], image["dtype"])
interpreter.set_tensor(image["index"], pixels)
interpreter.invoke()
result = interpreter.get_tensor(scores["index"])[0].astype(int)
scale, zero_point = scores["quantization"]
print([(int(k), float(scale * (int(result[k]) - zero_point))) for k in np.argsort(-result)[:3]])
"""


def run_script(import_line: str, model: Path) -> str:
    code = SCRIPT.format(import_line=import_line)
    command = [sys.executable, "-c", code, str(model)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout


def test_only_the_import_line_of_a_script_changes(zoo_model: Callable[[str], Path]) -> None:
    if importlib.util.find_spec("ai_edge_litert") is None:
        requirements.unavailable("needs ai-edge-litert, which this Python has no wheel of")
    model = zoo_model("mlperf_pretrainedResnet_quant")
    printed = run_script(KIWICHA, model)
    assert len(printed.splitlines()) == 3
    assert printed == run_script(LITERT, model)


@pytest.mark.verilator
def test_the_simulated_system_gives_the_same_and_counts_cycles() -> None:
    case = random_networks.network(5)
    results = []
    for target in ("native", "sim"):
        interpreter = Interpreter(model_content=case.model, target=target)
        assert interpreter.cycles is None
        invoke(interpreter, case.inputs)
        output = interpreter.get_output_details()[0]
        results.append(interpreter.get_tensor(output["index"]))
        assert list(results[-1].shape) == output["shape"].tolist()
    assert results[0].any()
    assert np.array_equal(*results)
    assert interpreter.cycles is not None
    assert interpreter.cycles > 1000


def invoke(interpreter: Interpreter, inputs: Any) -> None:
    interpreter.allocate_tensors()
    for details, value in zip(interpreter.get_input_details(), inputs, strict=True):
        interpreter.set_tensor(details["index"], value)
    interpreter.invoke()


def test_tensors_are_copies() -> None:
    case = random_networks.network(5)
    interpreter = Interpreter(model_content=case.model)
    invoke(interpreter, case.inputs)
    index = interpreter.get_output_details()[0]["index"]
    first = interpreter.get_tensor(index)
    interpreter.get_tensor(index)[...] = 0
    value = np.array(case.inputs[0])
    place = interpreter.get_input_details()[0]["index"]
    interpreter.set_tensor(place, value)
    value[...] = 0
    interpreter.invoke()
    assert first.any()
    assert np.array_equal(interpreter.get_tensor(index), first)


def test_a_wrong_model_is_refused_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "short.tflite"
    path.write_bytes(random_networks.network(5).model[:200])
    with pytest.raises(ModelError, match=f"^{re.escape(str(path))}: the file must be a whole "):
        Interpreter(path)


def test_wrong_use_is_refused_in_words() -> None:
    model = random_networks.network(5).model
    with pytest.raises(UsageError, match=r"^model_path or model_content must be .* neither"):
        Interpreter()
    with pytest.raises(UsageError, match=r"not both"):
        Interpreter("model.tflite", model)
    with pytest.raises(UsageError, match=r"^target must be native, reference or sim, not 'fpga'"):
        Interpreter(model_content=model, target="fpga")
    interpreter = Interpreter(model_content=model)
    image = interpreter.get_input_details()[0]
    value = np.zeros(image["shape"], image["dtype"])
    for act in (lambda: interpreter.set_tensor(image["index"], value), interpreter.invoke):
        with pytest.raises(UsageError, match=r"^allocate_tensors must be called first"):
            act()
    interpreter.allocate_tensors()
    with pytest.raises(UsageError, match=r"^tensor_index must be .* not 99"):
        interpreter.set_tensor(99, value)
    with pytest.raises(UsageError, match=r"must be int8, not float32"):
        interpreter.set_tensor(image["index"], value.astype(np.float32))
    with pytest.raises(UsageError, match=r"must have shape .* not \["):
        interpreter.set_tensor(image["index"], value[..., :-1])
    with pytest.raises(UsageError, match=r"^invoke must be called before an output is read"):
        interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


SHAPE = (1, 6)


def adder(dtype: type[np.generic] = np.int8) -> bytes:
    """Give a model of two inputs with a signature."""
    builder = ModelBuilder()
    zero_points = (128, 120, 131) if dtype is np.uint8 else (0, -8, 3)
    x, y, z = (
        builder.tensor(SHAPE, dtype, name=name, scale=scale, zero_point=zero_point)
        for name, scale, zero_point in zip("xyz", (0.5, 0.25, 0.75), zero_points, strict=True)
    )
    builder.operator("ADD", [x, y], [z])
    names = {"left": x, "right": y}, {"sum": z}
    return builder.build([x, y], [z], signatures={"add": names})


def litert(model: bytes) -> Any:
    """Return LiteRT's interpreter with the reference kernels."""
    if importlib.util.find_spec("ai_edge_litert") is None:
        requirements.unavailable("needs ai-edge-litert, which this Python has no wheel of")
    module = importlib.import_module("ai_edge_litert.interpreter")
    kernels = module.OpResolverType.BUILTIN_REF
    made = module.Interpreter(model_content=model, experimental_op_resolver_type=kernels)
    made.allocate_tensors()
    return made


def plain(value: Any) -> Any:
    """Return details as types and values that compare."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return (value.dtype, value.tolist()) if isinstance(value, np.ndarray) else (type(value), value)


@pytest.mark.parametrize(
    "model",
    [adder(), adder(np.uint8), random_networks.network(5).model],
    ids=["int8", "uint8", "network"],
)
def test_details_are_those_of_litert(model: bytes) -> None:
    theirs, ours = litert(model), Interpreter(model_content=model)
    for method in ("get_input_details", "get_output_details", "get_tensor_details"):
        expected = getattr(theirs, method)()
        assert expected
        assert plain(getattr(ours, method)()) == plain(expected)
    assert ours.get_signature_list() == theirs.get_signature_list()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_signatures_run_as_with_litert(dtype: type[np.generic]) -> None:
    model = adder(dtype)
    rng = np.random.default_rng(1)
    values = {
        name: rng.integers(0, 256, SHAPE).astype(np.uint8).view(dtype) for name in ("right", "left")
    }
    theirs, ours = (
        made.get_signature_runner("add")
        for made in (litert(model), Interpreter(model_content=model))
    )
    expected = theirs(**values)
    for runner in (ours, Interpreter(model_content=model).get_signature_runner()):
        assert plain(runner(**values)) == plain(expected)
    assert plain(ours.get_input_details()) == plain(theirs.get_input_details())
    assert plain(ours.get_output_details()) == plain(theirs.get_output_details())
    with pytest.raises(UsageError, match=r"^inputs of the signature must be left and right, not l"):
        ours(left=values["left"])


def test_wrong_signatures_are_refused() -> None:
    interpreter = Interpreter(model_content=adder())
    with pytest.raises(UsageError, match=r"^signature_key must be 'add', not 'sub'$"):
        interpreter.get_signature_runner("sub")
    without = Interpreter(model_content=random_networks.network(5).model)
    assert without.get_signature_list() == {}
    with pytest.raises(UsageError, match=r"^the model must have a signature"):
        without.get_signature_runner()


def test_tensors_can_be_filled_and_read_in_place() -> None:
    interpreter = Interpreter(model_content=adder())
    left, right = (interpreter.tensor(d["index"]) for d in interpreter.get_input_details())
    total = interpreter.tensor(interpreter.get_output_details()[0]["index"])
    with pytest.raises(UsageError, match="allocate_tensors must be called first"):
        left()
    interpreter.allocate_tensors()
    left()[...] = 30
    right().fill(-8)
    with pytest.raises(UsageError, match="invoke must be called"):
        total()
    interpreter.invoke()
    assert total().tolist() == [[23] * 6]  # 30 * 0.5 / 0.75 + 3
    places = [left(), right(), total()]
    places[0][...] = 60
    interpreter.invoke()
    assert places[2].tolist() == [[43] * 6]
    index = interpreter.get_input_details()[0]["index"]
    interpreter.set_tensor(index, np.full(SHAPE, 30, np.int8))
    interpreter.invoke()
    assert places[0].tolist() == [[30] * 6]
    assert places[2].tolist() == [[23] * 6]
    assert all(
        place is tensor() for place, tensor in zip(places, (left, right, total), strict=True)
    )


@pytest.mark.verilator
def test_the_simulated_system_writes_outputs_in_place() -> None:
    case = random_networks.network(5)
    interpreter = Interpreter(model_content=case.model, target="sim")
    invoke(interpreter, case.inputs)
    place = interpreter.tensor(interpreter.get_output_details()[0]["index"])()
    before = place.copy()
    place[...] = 0
    interpreter.invoke()
    assert np.array_equal(place, before)


def test_only_the_shape_of_the_model_is_accepted() -> None:
    interpreter = Interpreter(model_content=adder())
    interpreter.resize_tensor_input(0, SHAPE)
    interpreter.resize_tensor_input(1, np.array(SHAPE), strict=True)
    text = (
        r"^shape of 'x' must be \[1, 6\], or a batch of such, not \[1, 7\]: shapes are fixed when"
    )
    with pytest.raises(UsageError, match=text):
        interpreter.resize_tensor_input(0, (1, 7))
    with pytest.raises(UsageError, match=r"^tensor_index must be 0 \('x'\) or 1 \('y'\), not 2"):
        interpreter.resize_tensor_input(2, SHAPE)
    interpreter.reset_all_variables()


def check_kept(target: str, config: str) -> None:
    """Compare a model with a state, with LiteRT's way of using an interpreter."""
    model = STREAMING["total"](random.Random("total1"))
    interpreter = Interpreter(model_content=model.model, target=target, config=config)
    interpreter.allocate_tensors()
    (source,) = interpreter.get_input_details()
    results = interpreter.get_output_details()

    def infer(value: np.ndarray[Any, Any]) -> list[bytes]:
        interpreter.set_tensor(source["index"], value)
        interpreter.invoke()
        return [interpreter.get_tensor(item["index"]).tobytes() for item in results]

    inputs = [value for (value,) in sets(model, 3)]
    expected = Session(compile_model(model.model, config))
    for value in inputs:
        assert infer(value) == [output.tobytes() for output in expected.run([value])]
    interpreter.allocate_tensors()
    assert infer(inputs[0]) == [output.tobytes() for output in expected.run([inputs[0]])]
    interpreter.reset_all_variables()
    expected.reset()
    assert infer(inputs[0]) == [output.tobytes() for output in expected.run([inputs[0]])]


@pytest.mark.parametrize("target", ["native", "reference"])
@pytest.mark.parametrize("config", ["simd", "64"])
def test_variables_are_kept_until_they_are_reset(target: str, config: str) -> None:
    check_kept(target, config)


def test_a_model_with_variables_takes_no_batch() -> None:
    model = STREAMING["total"](random.Random("total1"))
    interpreter = Interpreter(model_content=model.model)
    (source,) = interpreter.get_input_details()
    with pytest.raises(UsageError, match="invoke it for one input after the other"):
        interpreter.resize_tensor_input(source["index"], [3, *source["shape"][1:]])


@pytest.mark.nightly
@pytest.mark.verilator
def test_the_simulated_system_keeps_variables() -> None:
    check_kept("sim", "64")


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_content_may_be_any_bytes(kind: Callable[[bytes], Any]) -> None:
    assert Interpreter(model_content=kind(adder())).get_signature_list().keys() == {"add"}


class Resolver(enum.Enum):
    """As LiteRT's ``OpResolverType``."""

    AUTO = 0
    BUILTIN = 1
    BUILTIN_REF = 2
    NEW = 9


def test_arguments_of_litert_are_accepted_where_they_change_nothing() -> None:
    made = Interpreter(
        model_content=adder(),
        num_threads=4,
        experimental_delegates=[],
        experimental_op_resolver_type=Resolver.BUILTIN_REF,
        experimental_preserve_all_tensors=False,
        experimental_disable_delegate_clustering=False,
        experimental_default_delegate_latest_features=False,
    )
    assert made.get_output_details()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        (
            "experimental_delegates",
            [object()],
            r"must be None or \[\] or \(\), which",
        ),
        ("experimental_op_resolver_type", Resolver.NEW, "must be None or AUTO or BUILTIN or"),
        ("num_threads", 0, "must be None or 1 or more, not 0"),
        ("model_content", "text", "must be bytes, not str"),
    ],
)
def test_other_values_of_arguments_are_refused(name: str, value: Any, text: str) -> None:
    arguments: dict[str, Any] = {"model_content": adder(), name: value}
    with pytest.raises(UsageError, match=f"^{name} {text}"):
        Interpreter(**arguments)


def test_unknown_arguments_are_named() -> None:
    with pytest.raises(UsageError, match=r"^argument must be .*delegates.*, not experimental_new$"):
        Interpreter(model_content=adder(), experimental_new=True)
