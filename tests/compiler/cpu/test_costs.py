"""Cycles of the CPU's steps, by what ran before them."""

import dataclasses

from kiwicha.compiler import compile_model
from kiwicha.compiler.cpu.costs import (
    READ_AHEAD_CYCLES,
    TABLE_AHEAD_CYCLES,
    cold_steps,
    cpu_cycles,
    cycles_by_step,
)
from kiwicha.contract.cfu import DATA_CACHE_BYTES
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.registry import KERNELS
from tests.support.models import random_models, random_networks


def test_the_step_behind_a_list_finds_its_parameters_in_the_cache() -> None:
    (softmax,) = compile_model(random_models.single_operator("SOFTMAX", 1).model, "64").steps
    network = compile_model(random_networks.engine_network(3).model, "64")
    engine = next(step for step in network.steps if step.kernel is Kernel.ENGINE)
    assert isinstance(engine.params, EngineCall)
    lists = [
        dataclasses.replace(engine, params=dataclasses.replace(engine.params, overlapped_steps=n))
        for n in (0, 1, 2)
    ]
    usual = cpu_cycles(softmax)
    behind = usual - READ_AHEAD_CYCLES - TABLE_AHEAD_CYCLES
    assert behind > 0
    steps = [
        *(softmax, lists[0], softmax, softmax),
        *(lists[1], softmax, softmax, softmax),
        *(lists[2], softmax, softmax, lists[0], softmax),
    ]
    expected = {0: usual, 2: behind, 3: usual, 5: usual, 6: behind, 7: usual}
    assert cycles_by_step(steps) == expected | {9: usual, 10: usual, 12: behind}


def test_a_short_list_ends_before_the_cache_has_all_of_a_table() -> None:
    (softmax,) = compile_model(random_models.single_operator("SOFTMAX", 1).model, "64").steps
    network = compile_model(random_networks.engine_network(3).model, "64")
    engine = next(step for step in network.steps if step.kernel is Kernel.ENGINE)
    # Of the 256 exponentials a line has eight, and takes 109 cycles.
    for cycles, lines in ((0, 0), (8 * 109, 8), (16 * 109, 16), (32 * 109, 32), (9999, 32)):
        ahead = READ_AHEAD_CYCLES + round(TABLE_AHEAD_CYCLES * lines / 32)
        found = cycles_by_step([engine, softmax], {0: cycles})
        assert found == {1: cpu_cycles(softmax) - ahead}


def test_what_is_displaced_by_a_long_step_is_cold() -> None:
    (softmax,) = compile_model(random_models.single_operator("SOFTMAX", 1).model, "64").steps
    network = compile_model(random_networks.engine_network(3).model, "64")
    engine = next(step for step in network.steps if step.kernel is Kernel.ENGINE)
    cold = KERNELS[Kernel.SOFTMAX].cost
    assert cold is not None
    assert cold.cold > 0
    (other,) = compile_model(random_models.single_operator("LOG_SOFTMAX", 1).model, "simd").steps
    params = dataclasses.replace(other.params, input=Ref(0, DATA_CACHE_BYTES))
    long = dataclasses.replace(other, params=params)
    assert cold_steps([softmax, engine, softmax]) == set()
    # What comes first finds what the inference before has left.
    assert cold_steps([softmax, engine, long]) == {0, 1}
    assert cold_steps([long, engine, softmax, softmax, engine]) == {1, 2}
    # Its own kernel is left.
    assert cold_steps([long, engine, long, engine]) == {1, 3}
    usual = cycles_by_step([softmax, engine, softmax])
    found = cycles_by_step([softmax, engine, softmax, long])
    assert [found[n] - usual[n] for n in (0, 2)] == [round(cold.cold), 0]
