"""Cycles of the CPU's steps, by what ran before them."""

import dataclasses

from kiwicha.compiler import compile_model
from kiwicha.compiler.cpu.costs import (
    READ_AHEAD_CYCLES,
    TABLE_AHEAD_CYCLES,
    cpu_cycles,
    cycles_by_step,
)
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.program import Kernel
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
