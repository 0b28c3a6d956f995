"""What lies between inputs and outputs, and constants, against LiteRT."""

import importlib
import importlib.util
import random
from typing import Any

import numpy as np
import pytest

from kiwicha import Interpreter
from kiwicha.compiler import compile_stages
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.errors import NotReadyError, UsageError
from kiwicha.interpreter.preserved import between, with_outputs
from kiwicha.zoo import models as zoo
from tests.support import requirements
from tests.support.models import random_networks
from tests.support.models.streaming import STREAMING

SEEDS = (0, 1, 2, 3, 5)


def litert(model: bytes) -> Any:
    if importlib.util.find_spec("ai_edge_litert") is None:
        requirements.unavailable("needs ai-edge-litert, which this Python has no wheel of")
    module = importlib.import_module("ai_edge_litert.interpreter")
    return module.Interpreter(
        model_content=model,
        experimental_op_resolver_type=module.OpResolverType.BUILTIN_REF,
        experimental_preserve_all_tensors=True,
    )


def invoked(made: Any, inputs: Any) -> Any:
    made.allocate_tensors()
    for details, value in zip(made.get_input_details(), inputs, strict=True):
        made.set_tensor(details["index"], value)
    made.invoke()
    return made


@pytest.mark.parametrize(
    ("target", "is_unsigned"), [("native", False), ("native", True), ("reference", False)]
)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_tensor_is_that_of_litert(seed: int, target: str, is_unsigned: bool) -> None:
    case = random_networks.network(seed, is_unsigned=is_unsigned)
    theirs = invoked(litert(case.model), case.inputs)
    ours = invoked(
        Interpreter(
            model_content=case.model, target=target, experimental_preserve_all_tensors=True
        ),
        case.inputs,
    )
    compared = 0
    for details in theirs.get_tensor_details()[: len(ours.get_tensor_details())]:
        value = theirs.get_tensor(details["index"])
        own = ours.get_tensor(details["index"])
        assert own.dtype == value.dtype
        # LiteRT rounds some sums of int8 in another way than TFLite Micro, as which we compute.
        difference = np.abs(own.astype(np.int64) - value).max(initial=0)
        assert difference <= (0 if is_unsigned else 1)
        compared += 1
    assert compared == len(ours.get_tensor_details())


def test_inputs_in_a_batch_have_their_tensors() -> None:
    case = random_networks.network(5)
    made = Interpreter(model_content=case.model, experimental_preserve_all_tensors=True)
    (index,) = between(compile_stages(case.model, "simd").graph)[:1]
    invoked(made, case.inputs)
    once = made.get_tensor(index)
    (details,) = made.get_input_details()
    made.resize_tensor_input(details["index"], [3 * details["shape"][0], *details["shape"][1:]])
    invoked(made, [np.concatenate([case.inputs[0]] * 3)])
    assert np.array_equal(made.get_tensor(index), np.concatenate([once] * 3))


def test_a_model_gets_outputs() -> None:
    model = zoo.demo_model()[0].read_bytes()
    graph = compile_stages(model, "baseline").graph
    more = between(graph)
    assert len(more) == len(graph.operators) - 1
    changed = compile_stages(with_outputs(model, more), "baseline").graph
    assert changed.outputs == (*graph.outputs, *more)
    assert changed.inputs == graph.inputs
    assert all(graph.tensors[index].type is TensorType.INT8 for index in more)


def test_tensors_have_no_values_before_invoke_or_without_the_argument() -> None:
    model = zoo.demo_model()[0]
    (index, *_) = between(compile_stages(model, "baseline").graph)
    kept = Interpreter(model, experimental_preserve_all_tensors=True)
    kept.allocate_tensors()
    with pytest.raises(NotReadyError, match=r"^invoke must be called"):
        kept.get_tensor(index)
    plain = Interpreter(model)
    plain.allocate_tensors()
    plain.invoke()
    with pytest.raises(UsageError, match=r"experimental_preserve_all_tensors=True keeps those"):
        plain.get_tensor(index)


def test_models_with_variables_keep_their_tensors() -> None:
    model = STREAMING["delay"](random.Random(1)).model
    made = Interpreter(model_content=model, experimental_preserve_all_tensors=True)
    made.allocate_tensors()
    made.invoke()
    for index in between(compile_stages(model, "baseline").graph):
        assert made.get_tensor(index).size


def test_what_cannot_keep_them_says_so() -> None:
    with pytest.raises(UsageError, match=r"must be False with target='sim', whose memory never"):
        Interpreter("demo", target="sim", experimental_preserve_all_tensors=True)
