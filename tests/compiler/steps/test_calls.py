"""Calls of CPU and engine in one order."""

import dataclasses

import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.cpu.calls import KernelCall
from kiwicha.compiler.steps.calls import ListCall, in_order
from kiwicha.contract.program import Kernel
from tests.support.models import random_networks


@pytest.fixture(scope="module")
def compilation() -> Compilation:
    found = compile_stages(random_networks.network(2).model, "64")
    assert found.lists
    assert found.kernel_calls
    return found


def test_calls_come_in_the_order_of_layers(compilation: Compilation) -> None:
    config = compilation.config
    calls = in_order(compilation.kernel_calls[::-1], compilation.lists[::-1], config)
    assert [call.layer for call in calls] == sorted(call.layer for call in calls)
    assert {type(call) for call in calls} == {KernelCall, ListCall}
    assert len(calls) == len(compilation.kernel_calls) + len(compilation.lists)


def test_a_layer_is_computed_by_cpu_or_engine(compilation: Compilation) -> None:
    call = dataclasses.replace(
        compilation.kernel_calls[0], layer=compilation.lists[0].region.positions[0]
    )
    with pytest.raises(AssertionError):
        in_order([call], compilation.lists, compilation.config)


def test_lists_say_what_they_do(compilation: Compilation) -> None:
    for found in compilation.lists:
        (part,) = found.parts
        call = ListCall(part, compilation.config, overlapped_steps=3)
        assert call.kernel is Kernel.ENGINE
        assert call.layer in call.layers
        assert call.reads | call.writes <= set(call.tensors.values())
        assert (call.params.overlapped_steps, call.params.goes_on) == (3, 0)
        assert call.params.job_count == len(found.jobs)
        assert call.params.macs == 64
