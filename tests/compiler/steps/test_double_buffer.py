"""Double buffers: an inference leaves alone what its neighbours write and read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import Compilation, compile_stages, with_double_buffer
from kiwicha.compiler.steps import allocate as allocation
from kiwicha.contract.cfu import CACHE_LINE_BYTES
from kiwicha.contract.layout import Ref
from kiwicha.errors import CapacityError
from kiwicha.sim.reference import executor
from kiwicha.sim.reference.memory import Memory
from kiwicha.zoo import models as zoo
from tests.support.models import random_moves, random_networks
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.models.two_heads import two_heads

MADE = {
    "network": random_networks.network,
    "engine_network": random_networks.engine_network,
    "transposed": random_networks.transposed,
}


def watched(shift_bytes: int) -> type[Memory]:
    """Give a memory that must not be written where the doubles of inputs and outputs are."""

    class Watched(Memory):
        def _check_writable(self, ref: Ref) -> None:
            super()._check_writable(ref)
            assert ref.offset + ref.bytes <= shift_bytes or ref.offset >= 2 * shift_bytes, ref

    return Watched


def check(compilation: Compilation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check places, and execute the model: no step writes where it must not."""
    program, plan = compilation.program, compilation.memory
    shift = program.shift_bytes
    assert shift == plan.shift_bytes > 0
    assert shift % CACHE_LINE_BYTES == 0
    assert all(item.ref.offset + item.ref.bytes <= shift for item in program.inputs)
    assert all(item.ref.offset + item.ref.bytes <= shift for item in program.outputs)
    steps = set(range(-1, len(compilation.calls) + 1))
    edges = {
        compilation.memory.tensors[tensor]
        for tensor in (*compilation.network.graph.inputs, *compilation.network.outputs)
        if tensor in plan.tensors
    }
    for item in plan.placements:
        here = range(item.offset, item.offset + item.buffer.bytes)
        if any(offset in here for offset in edges) or shift in here:
            # From before the first step until behind the last.
            assert {item.buffer.first, item.buffer.last} == {min(steps), max(steps)}, item
    monkeypatch.setattr(executor, "Memory", watched(shift))
    rng = np.random.default_rng(2)
    executor.run(program, [rng.bytes(item.ref.bytes) for item in program.inputs])


@pytest.mark.parametrize("config", ["simd", "64"])
@pytest.mark.parametrize("kind", MADE)
def test_no_step_touches_the_doubles(
    kind: str, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(6):
        single = compile_stages(MADE[kind](seed).model, config)
        check(with_double_buffer(single), monkeypatch)


def test_moves_share_memory_without_touching_the_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6):
        single = compile_stages(random_moves.network(seed).model, "64")
        check(with_double_buffer(single), monkeypatch)


def test_the_option_gives_what_it_gives_afterwards() -> None:
    model = two_heads()
    single, double = (compile_stages(model, "64", double_buffer=is_on) for is_on in (False, True))
    assert single.program.shift_bytes == 0
    made = with_double_buffer(single).program
    assert made.to_bytes() == double.program.to_bytes()
    assert with_double_buffer(double).program == made


def test_a_double_buffer_costs_twice_the_inputs_and_outputs() -> None:
    single = compile_stages(zoo.resolve(zoo.DEMO)[1], "64")
    double = with_double_buffer(single)
    before, after = single.program, double.program
    edges = sum(-(-item.ref.bytes // 16) * 16 for item in (*before.inputs, *before.outputs))
    assert edges <= after.shift_bytes < edges + CACHE_LINE_BYTES
    assert after.arena_bytes <= before.arena_bytes + 2 * after.shift_bytes + 3 * CACHE_LINE_BYTES
    assert len(after.to_bytes()) == len(before.to_bytes())
    assert after.window_bytes == after.arena_bytes - after.shift_bytes


def test_an_arena_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    single = compile_stages(two_heads(), "64")
    monkeypatch.setattr(allocation, "MAX_ARENA_BYTES", single.program.arena_bytes)
    with pytest.raises(
        CapacityError, match=r"make( the model's|) its inputs smaller|inputs smaller"
    ):
        with_double_buffer(single)


def test_an_input_that_is_an_output_has_one_place(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    builder = ModelBuilder()
    x, y = (builder.tensor(shape, scale=0.5) for shape in ((1, 40), (1, 4, 10)))
    builder.operator("RESHAPE", [x], [y], newShape=[1, 4, 10])
    compilation: Any = compile_stages(builder.build(inputs=[x], outputs=[y]), "simd")
    check(with_double_buffer(compilation), monkeypatch)
