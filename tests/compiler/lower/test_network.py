"""Lowered models: what is incomplete, or reads what is not there, is refused."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.compiler.tflite.graph import State
from kiwicha.compiler.tflite.reader import read
from tests.support.models.one_operator import conv
from tests.support.models.tflite_builder import ModelBuilder

X, A, B, CONSTANT, JOINED, Y, UNUSED, OTHER = range(8)
"""Tensors: `A` and `B` are parts of `JOINED`."""


def network() -> Network:
    """Return two RELUs whose results are joined, and a sum of that with a constant."""
    builder = ModelBuilder()

    def tensor(rows: int, **fields: Any) -> int:
        return builder.tensor((1, rows, 16), scale=0.5, zero_point=-3, **fields)

    x, a, b = tensor(2), tensor(2), tensor(2)
    constant = tensor(4, data=np.arange(64, dtype=np.int8).reshape(1, 4, 16))
    joined, y, *_ = tensor(4), tensor(4), tensor(4), tensor(4)
    assert (x, a, b, constant, joined, y) == (X, A, B, CONSTANT, JOINED, Y)
    builder.operator("RELU", [x], [a])
    builder.operator("RELU", [x], [b])
    builder.operator("CONCATENATION", [a, b], [joined], axis=1)
    builder.operator("MUL", [joined, constant], [y])
    return lower(read(builder.build([x], [y])))


NETWORK = network()
FIRST, SECOND, JOIN, PRODUCT = NETWORK.layers


OVERWRITING = {**PRODUCT.tensors, "output": CONSTANT}


def with_layers(*layers: Layer) -> Network:
    return dataclasses.replace(NETWORK, layers=layers)


def with_product(**fields: Any) -> Network:
    """Return the network with another last layer."""
    return with_layers(FIRST, SECOND, JOIN, dataclasses.replace(PRODUCT, **fields))


def with_tensors(**tensors: int) -> Network:
    return with_product(tensors={**PRODUCT.tensors, **tensors})


def test_what_is_lowered_is_sound() -> None:
    NETWORK.verify()
    assert NETWORK.parts == {A: (JOINED, 0), B: (JOINED, 32)}
    assert not JOIN.calls
    assert (JOIN.macs, PRODUCT.macs) == (0, 0)
    dataclasses.replace(NETWORK, aliases={UNUSED: Y, OTHER: Y}).verify()
    assert PRODUCT.tensors == {"input_1": JOINED, "input_2": CONSTANT, "output": Y}
    # Parts may come in any order, and layers may have more calls.
    with_layers(SECOND, FIRST, JOIN, PRODUCT).verify()
    more = dataclasses.replace(PRODUCT, tensors={**PRODUCT.tensors, "input_1": Y})
    with_product(more=(more,)).verify()


@pytest.mark.parametrize(
    "fields",
    [
        {"layers": NETWORK.layers[:3]},
        {"layers": (*NETWORK.layers, PRODUCT)},
        # An alias of an alias, a part of a part, a part that is an alias.
        {"aliases": {UNUSED: OTHER, OTHER: Y}},
        {"parts": {A: (JOINED, 0), JOINED: (Y, 0)}},
        {"aliases": {JOINED: Y}},
        {"aliases": {A: Y}},
        {"parts": {**NETWORK.parts, UNUSED: (OTHER, 0)}, "aliases": {UNUSED: Y}},
        # A call names an alias.
        {"aliases": {X: OTHER}},
        {"outputs": (UNUSED,)},
        {"outputs": (Y, Y)},
        {"outputs": ()},
        # Nothing says that what is joined is written.
        {"parts": {}},
        {"parts": {A: (UNUSED, 0)}},
    ],
)
def test_unsound_networks(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        dataclasses.replace(NETWORK, **fields).verify()


@pytest.mark.parametrize(
    "broken",
    [
        with_layers(FIRST, SECOND, PRODUCT, JOIN),
        with_product(params=None),
        with_tensors(output=CONSTANT),
        with_tensors(input_1=UNUSED),
        with_tensors(input_2=UNUSED),
        # A field that the kernel does not have, and one that is missing.
        with_tensors(input_3=X),
        with_product(constants={"table": np.zeros(1)}),
        with_product(tensors={"input_1": JOINED, "output": Y}),
        with_product(more=(dataclasses.replace(PRODUCT, params=None),)),
        with_product(more=(dataclasses.replace(PRODUCT, tensors=OVERWRITING),)),
    ],
)
def test_unsound_layers(broken: Network) -> None:
    with pytest.raises(AssertionError):
        broken.verify()


def test_layers_without_a_call_do_nothing() -> None:
    empty = Layer(0, "RESHAPE")
    assert (empty.macs, empty.is_shared, empty.calls) == (0, False, ())
    both = dataclasses.replace(FIRST, more=(SECOND,))
    assert both.calls == (both, SECOND)


def test_working_memory_has_no_place_yet() -> None:
    found = lower(read(conv()))
    found.verify()
    (layer,) = found.layers
    assert "scratch" not in {*layer.tensors, *layer.constants}
    moved = dataclasses.replace(layer.params, weight_offset=100)
    weights = weights_of(dataclasses.replace(layer, params=moved))
    assert weights.dtype == np.int16
    assert np.array_equal(weights, layer.constants["weights"].astype(int) + 100)


def test_states_are_written_before() -> None:
    state = State("kept", UNUSED, Y, 3, bytes(64))
    graph = dataclasses.replace(NETWORK.graph, states=(state,))
    found = dataclasses.replace(with_tensors(input_1=UNUSED), graph=graph)
    found.verify()
    assert found.state_writers == {3}
    own = dataclasses.replace(graph, states=(dataclasses.replace(state, before=Y),))
    assert not dataclasses.replace(found, graph=own).state_writers


def test_tensors_are_read_by_layers_outputs_and_parts() -> None:
    counts = [NETWORK.readers(tensor) for tensor in range(8)]
    assert counts == [2, 1, 1, 1, 2, 1, 0, 0]
    assert NETWORK.shared == {A, B, JOINED}
