"""Batches of independent inputs, and what executes them."""

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha import Interpreter
from kiwicha.errors import UsageError
from kiwicha.firmware.native_library import NativeModel
from kiwicha.interpreter.batches import batch_of
from tests.interpreter.test_interpreter import adder, litert
from tests.support.models import random_networks
from tests.support.models.detectors import detector
from tests.support.models.tflite_builder import ModelBuilder

IMAGE_SECONDS = 0.012
"""What an image of person_detect may take of one core."""


def outputs(interpreter: Any, inputs: Sequence[Any]) -> list[Any]:
    """Give the outputs for inputs, which are batches where they are larger than the model's."""
    details = interpreter.get_input_details()
    for one, value in zip(details, inputs, strict=True):
        interpreter.resize_tensor_input(one["index"], value.shape)
    interpreter.allocate_tensors()
    for one, value in zip(details, inputs, strict=True):
        interpreter.set_tensor(one["index"], value)
    interpreter.invoke()
    return [interpreter.get_tensor(one["index"]) for one in interpreter.get_output_details()]


def batches(model: bytes, count: int) -> list[Any]:
    """Give random values for so many times the inputs of a model."""
    rng = np.random.default_rng(3)
    found = []
    for one in Interpreter(model_content=model).get_input_details():
        shape = (count * one["shape"][0], *one["shape"][1:])
        info = np.iinfo(one["dtype"])
        found.append(rng.integers(info.min, info.max + 1, shape, one["dtype"]))
    return found


MODELS = {
    "adder": adder,
    "uint8": lambda: adder(np.uint8),
    "network": lambda: random_networks.network(0).model,
    "engine": lambda: random_networks.engine_network(7).model,
    "detector": lambda: detector(0, is_float=True).model,
}


@pytest.mark.parametrize("threads", [None, 1, 3])
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_is_as_many_inferences(name: str, threads: int | None) -> None:
    model, count = MODELS[name](), 5
    values = batches(model, count)
    parts = [np.split(value, count) for value in values]
    reference = Interpreter(model_content=model, target="reference")
    alone = [outputs(reference, [part[k] for part in parts]) for k in range(count)]
    expected = [np.concatenate(found) for found in zip(*alone, strict=True)]
    assert not all(np.array_equal(one, other) for one, other in zip(*alone[:2], strict=True))
    for target in ("native", "reference"):
        found = outputs(
            Interpreter(model_content=model, target=target, num_threads=threads), values
        )
        assert [(x.dtype, x.tolist()) for x in found] == [(x.dtype, x.tolist()) for x in expected]


def test_a_batch_is_resized_as_in_litert() -> None:
    model = adder()
    values = batches(model, 3)
    ours, theirs = Interpreter(model_content=model), litert(model)
    assert [x.tolist() for x in outputs(ours, values)] == [
        x.tolist() for x in outputs(theirs, values)
    ]
    for method in ("get_input_details", "get_output_details"):
        expected = [one["shape"].tolist() for one in getattr(theirs, method)()]
        assert [one["shape"].tolist() for one in getattr(ours, method)()] == expected
        assert all(shape[0] == 3 for shape in expected)
    # Back to one.
    assert outputs(ours, [value[:1] for value in values])[0].shape == (1, 6)


def test_signatures_take_batches() -> None:
    model = adder()
    left, right = batches(model, 4)
    runner = Interpreter(model_content=model).get_signature_runner()
    found = runner(left=left, right=right)["sum"]
    rows = [runner(left=left[k : k + 1], right=right[k : k + 1])["sum"] for k in range(4)]
    assert found.tolist() == np.concatenate(rows).tolist()


def test_all_inputs_have_the_same_batch_and_are_allocated_anew() -> None:
    interpreter = Interpreter(model_content=adder())
    interpreter.allocate_tensors()
    interpreter.resize_tensor_input(0, [2, 6])
    with pytest.raises(UsageError, match=r"^allocate_tensors must be called first"):
        interpreter.invoke()
    with pytest.raises(UsageError, match=r"^all inputs must be .* 'x' \[2, 6\], 'y' \[1, 6\]$"):
        interpreter.allocate_tensors()
    interpreter.resize_tensor_input(1, [2, 6])
    interpreter.allocate_tensors()
    with pytest.raises(UsageError, match=r"^value of 'x' must have shape \[2, 6\], not \[1, 6\]$"):
        interpreter.set_tensor(0, np.zeros((1, 6), np.int8))


@pytest.mark.parametrize(
    ("shape", "whole", "count"),
    [
        ((1, 6), (1, 6), 1),
        ((1, 6), [4, 6], 4),
        ((2, 6), (6, 6), 3),
        ((2, 6), (3, 6), None),
        ((1, 6), (0, 6), None),
        ((1, 6), (-1, 6), None),
        ((1, 6), (6,), None),
        ((1, 6), (2, 7), None),
        ((), (), 1),
        ((), (2,), None),
    ],
)
def test_what_is_a_batch(shape: tuple[int, ...], whole: Sequence[int], count: int | None) -> None:
    assert batch_of(shape, whole) == count


def test_outputs_without_dimensions_make_no_batch() -> None:
    builder = ModelBuilder()
    x = builder.tensor((1, 6), scale=0.5, zero_point=0)
    y = builder.tensor((), scale=0.5, zero_point=0)
    axes = builder.tensor((2,), np.int32, data=np.array([0, 1], np.int32))
    builder.operator("MEAN", [x, axes], [y], keepDims=False)
    interpreter = Interpreter(model_content=builder.build([x], [y]))
    with pytest.raises(UsageError, match=r"^shape of .* must be \[1, 6\]"):
        interpreter.resize_tensor_input(0, [2, 6])


def test_threads_have_models_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, int]] = []
    barrier = threading.Barrier(3, timeout=30)
    run = NativeModel.run

    def meeting(self: NativeModel, inputs: Sequence[Any]) -> Any:
        # Three at a time, or a time-out.
        barrier.wait()
        seen.append((threading.get_ident(), id(self)))
        return run(self, inputs)

    monkeypatch.setattr(NativeModel, "run", meeting)
    model = adder()
    outputs(Interpreter(model_content=model, num_threads=3), batches(model, 6))
    assert len(seen) == 6
    assert len(set(seen)) == len({thread for thread, _ in seen}) == 3
    assert len({model for _, model in seen}) == 3


def test_an_image_takes_little_of_one_core(
    zoo_model: Callable[[str], Path], golden_cases: Callable[[str], list[Any]]
) -> None:
    interpreter = Interpreter(zoo_model("person_detect"))
    golden = golden_cases("person_detect")[0]
    (image,), (scores,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.allocate_tensors()
    value = np.frombuffer(golden.input, image["dtype"]).reshape(image["shape"])
    seconds = []
    for _ in range(8):
        start = time.thread_time()
        interpreter.set_tensor(image["index"], value)
        interpreter.invoke()
        found = interpreter.get_tensor(scores["index"])
        seconds.append(time.thread_time() - start)
        assert found.tobytes() == golden.output
    assert min(seconds) < IMAGE_SECONDS
