"""Forms of layers, the fastest first."""

import pytest

from kiwicha.compiler.cpu.layers import layer_cycles
from kiwicha.compiler.engine.select.selection import Forms, select, without
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract.configs import find_config
from tests.support.models import random_models


@pytest.fixture(scope="module")
def forms() -> Forms:
    config = find_config("64")
    network = lower(read(random_models.engine_network(8).model))
    return select(network, config, has_tables=True, cpu_cycles=layer_cycles(network, config))


def test_every_layer_has_a_form_or_is_left_out(forms: Forms) -> None:
    assert forms
    assert all(forms.values())
    assert all(way.position == position for position, ways in forms.items() for way in ways)


def test_refused_layers_take_their_next_form(forms: Forms) -> None:
    position, *others = forms
    (form, *_) = forms[position]
    both = {**forms, position: (form, form)}
    once = without(both, {position})
    assert once[position] == (form,)
    assert position not in without(once, {position})
    assert all(once[other] == forms[other] for other in others)


def test_only_layers_with_forms_are_refused(forms: Forms) -> None:
    with pytest.raises(AssertionError):
        without(forms, {max(forms) + 1})
