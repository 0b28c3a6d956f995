"""Decisions for layers: what is refused takes its next form, and says why."""

import dataclasses

import pytest

from kiwicha.compiler.cpu.layers import layer_cycles
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError, Troubles
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Selection
from kiwicha.compiler.engine.select.select import select
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract.configs import find_config
from tests.support.models import random_networks


@pytest.fixture(scope="module")
def selection() -> Selection:
    config = find_config("64")
    network = lower(read(random_networks.engine_network(8).model))
    cycles = layer_cycles(network, config)
    return select(network, config, has_tables=True, cpu_cycles=cycles)


def test_refused_layers_take_their_next_form(selection: Selection) -> None:
    position, *others = selection.operations
    operation = selection.operations[position]
    decisions = list(selection.decisions)
    decisions[position] = Decision((Candidate("in a way", operation), Candidate("", operation)))
    first = dataclasses.replace(selection, decisions=tuple(decisions))
    second = first.after(Troubles({position: "is too large"}, frozenset({3})))
    assert second.cuts == selection.cuts | {3}
    assert second.decisions[position].chosen is decisions[position].candidates[1]
    third = second.after(Troubles({position: "is too slow"}, frozenset()))
    assert third.cuts == second.cuts
    assert third.decisions[position].chosen is None
    assert third.decisions[position].why_not == "in a way it is too large; it is too slow"
    assert set(third.operations) == set(others)


def test_operations_lie_at_their_layers(selection: Selection) -> None:
    selection.verify()
    swapped = dataclasses.replace(selection, decisions=(Decision(), *selection.decisions))
    with pytest.raises(AssertionError):
        swapped.verify()


def test_operations_break_no_limit(selection: Selection) -> None:
    position, operation = next(iter(selection.operations.items()))
    wide = dataclasses.replace(
        operation, window=dataclasses.replace(operation.window, stride_rows=999)
    )
    assert wide.job_operations == (wide,)
    decisions = list(selection.decisions)
    decisions[position] = Decision((*decisions[position].candidates, Candidate("", wide)))
    with pytest.raises(BrokenLimitError, match="has 999 rows or columns from one to the next"):
        dataclasses.replace(selection, decisions=tuple(decisions)).verify()


def test_cuts_and_gaps_are_kept(selection: Selection) -> None:
    first = selection.after(Troubles({}, frozenset({3}), frozenset({5})))
    second = first.after(Troubles({}, frozenset({4}), frozenset({6})))
    assert (second.cuts, second.closed) == (selection.cuts | {3, 4}, selection.closed | {5, 6})


def test_every_layer_has_a_form_or_a_reason(selection: Selection) -> None:
    assert selection.operations
    for position, decision in enumerate(selection.decisions):
        assert decision.candidates or decision.refusals
        assert (decision.chosen is not None) == (position in selection.operations)


def test_only_layers_with_forms_are_refused(selection: Selection) -> None:
    position = min(selection.operations)
    none_left = selection
    for _ in selection.decisions[position].candidates:
        none_left = none_left.after(Troubles({position: "is refused"}))
    with pytest.raises(AssertionError):
        none_left.after(Troubles({position: "is refused"}))


def test_troubles_are_false_if_there_are_none() -> None:
    assert not Troubles()
    assert Troubles({1: "is refused"})
    assert Troubles(cuts=frozenset({1}))
