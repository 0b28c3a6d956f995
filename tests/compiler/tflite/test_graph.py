"""Models as plain data: numbers of the schema, settings that are left out, and what is refused."""

import dataclasses
from typing import Any

import pytest
import tflite

from kiwicha.compiler.tflite.graph import Activation, Graph, Options, Padding, State
from kiwicha.compiler.tflite.reader import read
from kiwicha.errors import ModelError
from tests.support.models.one_operator import conv, pair


@pytest.mark.parametrize(
    ("ours", "schema"), [(Activation, tflite.ActivationFunctionType), (Padding, tflite.Padding)]
)
def test_numbers_are_those_of_the_schema(ours: Any, schema: Any) -> None:
    named = {name: value for name, value in vars(schema).items() if name.isupper()}
    assert {item.name: item.value for item in ours} == named


def test_settings_that_are_left_out_change_nothing() -> None:
    ones = {"stride_height", "stride_width", "dilation_height", "dilation_width", "kernel_height"}
    ones |= {"kernel_width", "depth_multiplier", "block_size", "rank", "beta"}
    others = {"activation", "padding", "custom", "variable", "subgraphs"}
    for field in dataclasses.fields(Options):
        if field.name not in others:
            assert getattr(Options(), field.name) == (field.name in ones), field.name
    assert (Options().activation, Options().padding) == (Activation.NONE, Padding.VALID)


def test_a_state_of_one_operator_is_one_tensor() -> None:
    state = State("kept", 3, 3, 0, b"")
    assert state.is_own
    assert not dataclasses.replace(state, after=4).is_own


def changed(graph: Graph, **fields: Any) -> Graph:
    """Return a graph with other fields of its first operator."""
    first, *others = graph.operators
    return dataclasses.replace(graph, operators=(dataclasses.replace(first, **fields), *others))


def test_indices_of_other_subgraphs_are_checked() -> None:
    graph = read(conv())
    count = len(graph.tensors)
    broken = changed(graph, inputs=(count,))
    dataclasses.replace(graph, others=(graph, graph)).verify()
    text = f"^subgraph 2: operator 0 CONV_2D: inputs must be tensors 0 to {count - 1}, not {count}$"
    with pytest.raises(ModelError, match=text):
        dataclasses.replace(graph, others=(graph, broken)).verify()


def test_only_folded_operators_write_constants() -> None:
    graph = read(pair("ADD", {}, {}, {}))
    (output,) = graph.operators[0].outputs
    tensors = list(graph.tensors)
    tensors[output] = dataclasses.replace(tensors[output], data=bytes(64))
    constant = dataclasses.replace(graph, tensors=tuple(tensors))
    folded = changed(constant, inputs=())
    folded.verify(is_folded=True)
    for broken, is_folded in ((folded, False), (constant, True), (constant, False)):
        with pytest.raises(ModelError, match="must be written only once"):
            broken.verify(is_folded=is_folded)
    # What is not constant is written by one operator, folded or not.
    plain = changed(graph, inputs=())
    plain.verify(is_folded=True)
    twice = dataclasses.replace(plain, operators=plain.operators * 2)
    with pytest.raises(ModelError, match="must be written only once"):
        twice.verify(is_folded=True)
