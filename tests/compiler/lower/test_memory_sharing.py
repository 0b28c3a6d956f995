"""Tensors inside others: what is not copied, and what is."""

import dataclasses
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.contract.program import Kernel
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

Shape = tuple[int, ...]


class Model(ModelBuilder):
    """A builder of tensors with one scale."""

    def add(self, *shape: int, data: NDArray[np.int8] | None = None) -> int:
        """Add a tensor."""
        return self.tensor(shape, scale=0.5, zero_point=-3, data=data)

    def made(self, x: int, *shape: int) -> int:
        """Add a RELU, whose result nobody else writes."""
        y = self.add(*shape)
        self.operator("RELU", [x], [y])
        return y


def compiled(model: bytes, values: list[NDArray[np.int8]]) -> tuple[Compilation, list[Any]]:
    found = compile_stages(model, "simd")
    return found, reference.run(found.program, values)


def kernels(found: Compilation) -> list[Kernel]:
    return [step.kernel for step in found.program.steps]


def bytes_of(*shape: int, seed: int = 0) -> NDArray[np.int8]:
    return np.random.default_rng(seed).integers(-128, 128, shape, np.int8)


def relu(values: NDArray[np.int8]) -> NDArray[np.int8]:
    return np.maximum(values, -3).astype(np.int8)


def test_a_join_of_whole_rows_is_no_step() -> None:
    model = Model()
    a, b = model.add(1, 2, 16), model.add(1, 3, 16)
    y = model.add(1, 5, 16)
    model.operator("CONCATENATION", [model.made(a, 1, 2, 16), model.made(b, 1, 3, 16)], [y], axis=1)
    values = [bytes_of(1, 2, 16), bytes_of(1, 3, 16, seed=1)]
    found, (got,) = compiled(model.build([a, b], [y]), values)
    assert kernels(found) == [Kernel.LOOKUP, Kernel.LOOKUP]
    first, second = (step.params.output for step in found.program.steps)
    joined = found.program.outputs[0].ref
    assert (first.offset, second.offset) == (joined.offset, joined.offset + 32)
    np.testing.assert_array_equal(got, relu(np.concatenate(values, axis=1)))


@pytest.mark.parametrize(
    ("shapes", "axis", "copies"),
    [
        # The second starts at byte 15.
        ([(1, 15), (1, 16)], 1, 1),
        # Rows of one lie between rows of the other.
        ([(2, 16), (2, 16)], 1, 2),
    ],
    ids=["unaligned", "inner dimension"],
)
def test_other_joins_are_copies(shapes: list[Shape], axis: int, copies: int) -> None:
    model = Model()
    xs = [model.add(*shape) for shape in shapes]
    values = [bytes_of(*shape, seed=k) for k, shape in enumerate(shapes)]
    expected = relu(np.concatenate(values, axis=axis))
    y = model.add(*expected.shape)
    made = [model.made(x, *shape) for x, shape in zip(xs, shapes, strict=True)]
    model.operator("CONCATENATION", made, [y], axis=axis)
    found, (got,) = compiled(model.build(xs, [y]), values)
    assert kernels(found).count(Kernel.COPY) == copies
    np.testing.assert_array_equal(got, expected)


def test_a_tensor_joined_with_itself_is_copied_once() -> None:
    model = Model()
    x, y = model.add(1, 16), model.add(2, 16)
    made = model.made(x, 1, 16)
    model.operator("CONCATENATION", [made, made], [y], axis=0)
    found, (got,) = compiled(model.build([x], [y]), [bytes_of(1, 16)])
    assert kernels(found) == [Kernel.LOOKUP, Kernel.COPY]
    np.testing.assert_array_equal(got, relu(bytes_of(1, 16)).repeat(2, axis=0))


def test_a_tensor_joined_twice_lies_in_one_of_them() -> None:
    model = Model()
    x = model.add(1, 16)
    made = model.made(x, 1, 16)
    ys = [model.add(1, 1, 16), model.add(1, 1, 16)]
    others = [model.add(1, 1, 32), model.add(1, 1, 32)]
    for y, other in zip(ys, others, strict=True):
        model.operator("PACK", [made], [y], axis=0, valuesCount=1)
        model.operator("CONCATENATION", [y, y], [other], axis=2)
    found, got = compiled(model.build([x], others), [bytes_of(1, 16)])
    assert kernels(found) == [Kernel.LOOKUP, *[Kernel.COPY] * 3]
    for values in got:
        np.testing.assert_array_equal(values, np.tile(relu(bytes_of(1, 16)), (1, 1, 2)))


def test_parts_are_no_steps_and_may_be_unused() -> None:
    model = Model()
    x, parts = model.add(3, 16), [model.add(1, 16) for _ in range(3)]
    axis = model.tensor((), np.int32, data=np.array(0, np.int32))
    model.operator("SPLIT", [axis, model.made(x, 3, 16)], parts, numSplits=3)
    y = model.made(parts[2], 1, 16)
    found, got = compiled(model.build([x], [y, parts[0]]), [bytes_of(3, 16)])
    assert kernels(found) == [Kernel.LOOKUP, Kernel.LOOKUP]
    np.testing.assert_array_equal(np.concatenate(got), relu(bytes_of(3, 16))[[2, 0]])


def test_parts_of_a_constant_are_copied() -> None:
    model = Model()
    values = bytes_of(2, 16)
    parts = [model.add(16) for _ in range(2)]
    model.operator("UNPACK", [model.add(2, 16, data=values)], parts, axis=0, num=2)
    x = model.add(16)
    y = model.add(16)
    model.operator("MAXIMUM", [x, parts[1]], [y])
    found, got = compiled(model.build([x], [y, parts[0]]), [bytes_of(16, seed=1)])
    assert kernels(found).count(Kernel.COPY) == 2
    np.testing.assert_array_equal(got, [np.maximum(bytes_of(16, seed=1), values[1]), values[0]])


def test_a_join_that_would_need_more_memory_is_a_copy() -> None:
    """Its first input waits while other things need the room that its last one will have."""
    model = Model()
    x, early = model.add(1, 16), model.add(1, 16)
    model.operator("RELU", [x], [early])
    wide, wider = model.add(256, 16), model.add(256, 16)
    model.operator("ADD", [early, model.add(256, 16, data=bytes_of(256, 16))], [wide])
    model.operator("SUB", [wide, model.add(256, 16, data=bytes_of(256, 16))], [wider])
    y = model.add(257, 16)
    late = model.made(wider, 256, 16)
    model.operator("CONCATENATION", [early, late], [y], axis=0)
    found, _ = compiled(model.build([x], [y]), [bytes_of(1, 16)])
    assert found.network.parts == {late: (y, 16)}
    # Of the join, the place of the first input is free until it is copied.
    assert found.memory.arena_bytes == 2 * 4096 + 16


def test_one_part_is_never_in_place_of_the_whole() -> None:
    """The sum is as large as the tensor that its first operand lies in."""
    model = Model()
    x, parts = model.add(2, 16), [model.add(1, 16) for _ in range(2)]
    y = model.add(2, 16)
    model.operator("SLICE", [model.made(x, 2, 16), *_box(model, (0, 0), (1, 16))], [parts[0]])
    model.operator("ADD", [parts[0], model.add(2, 16, data=np.full((2, 16), -3, np.int8))], [y])
    _, (got,) = compiled(model.build([x], [y]), [bytes_of(2, 16)])
    np.testing.assert_array_equal(got, relu(bytes_of(2, 16))[[0, 0]])


def _box(model: Model, first: Shape, size: Shape) -> list[int]:
    return [model.tensor((2,), np.int32, data=np.array(v, np.int32)) for v in (first, size)]


def test_no_call_names_a_tensor_without_memory() -> None:
    """Two reshapes of a part: what reads the second one reads the part, at its place."""
    model = Model()
    x, part = model.add(2, 16), model.add(1, 16)
    flat, square, y = model.add(16), model.add(4, 4), model.add(4, 4)
    made = model.made(x, 2, 16)
    model.operator("SLICE", [made, *_box(model, (1, 0), (1, 16))], [part])
    model.operator("RESHAPE", [part], [flat])
    model.operator("RESHAPE", [flat], [square])
    model.operator("RELU", [square], [y])
    found, (got,) = compiled(model.build([x], [y]), [bytes_of(2, 16)])
    network = found.network
    assert network.aliases == {flat: part, square: part}
    assert network.parts == {part: (made, 16)}
    assert network.layers[-1].tensors == {"input": part, "output": y}
    np.testing.assert_array_equal(got, relu(bytes_of(2, 16)[1]).reshape(4, 4))


def test_outputs_without_memory_are_found_in_other_tensors() -> None:
    model = Model()
    x, y = model.add(1, 4, 4), model.add(1, 16)
    made = model.made(x, 1, 4, 4)
    model.operator("RESHAPE", [made], [y])
    found, _ = compiled(model.build([x], [y]), [bytes_of(1, 4, 4)])
    assert (found.network.outputs, found.network.graph.outputs) == ((made,), (y,))
    assert found.program.outputs[0].shape == (1, 16)


@pytest.mark.parametrize(
    "changes",
    [
        {"aliases": {1: 0}},
        {"outputs": ()},
        {"outputs": (5,)},
        {"aliases": {5: 4, 4: 3}},
        {"parts": {1: (2, 0), 2: (0, 0)}},
    ],
    ids=str,
)
def test_networks_in_which_something_is_unresolved_are_refused(changes: dict[str, Any]) -> None:
    model = Model()
    x, y, *_ = (model.add(1, 16) for _ in range(6))
    model.operator("RELU", [x], [y])
    network = compiled(model.build([x], [y]), [bytes_of(1, 16)])[0].network
    network.verify()
    with pytest.raises(AssertionError):
        dataclasses.replace(network, **changes).verify()
