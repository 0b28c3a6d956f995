"""Ring buffers: a state lies in what it is joined to, where that is safe."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_stages, read
from kiwicha.compiler.engine.ir.plan import Transfer
from kiwicha.compiler.engine.schedule import events
from kiwicha.compiler.lower.lower import COPIED_BYTES, lower
from kiwicha.contract.program import Kernel
from tests.support.models.streaming_builder import StreamingBuilder

SCALE: dict[str, Any] = {"scale": 0.5}
CHANNELS = 16
ROWS, NEW = 4, 2
OLD, ALL = (1, ROWS, 1, CHANNELS), (1, ROWS + NEW, 1, CHANNELS)


def model(first: int, *, is_reversed: bool = False, gives_all: bool = False) -> bytes:
    """Join kept rows and new ones, and keep as many from a first one on."""
    builder = StreamingBuilder()
    builder.variable("kept", np.zeros(OLD, np.int8), **SCALE)
    x = builder.tensor((1, NEW, 1, CHANNELS), **SCALE)
    parts = [builder.read("kept", OLD, **SCALE), x]
    joined, y = (builder.tensor(ALL, **SCALE) for _ in range(2))
    builder.operator("CONCATENATION", parts[::-1] if is_reversed else parts, [joined], axis=1)
    builder.operator("RELU", [joined], [y])
    after = builder.tensor(OLD, **SCALE)
    numbers = [
        builder.tensor((4,), np.int32, data=np.int32(value)) for value in ((0, first, 0, 0), OLD)
    ]
    builder.operator("SLICE", [joined, *numbers], [after])
    builder.assign("kept", after)
    return builder.build([x], [y, joined] if gives_all else [y])


def copies(raw: bytes) -> list[tuple[int, int, int]]:
    """Give bytes, source and target of every copy on the CPU."""
    steps = compile_stages(raw, "baseline").program.steps
    return [
        (step.params.output.bytes, step.params.input.offset, step.params.output.offset)
        for step in steps
        if step.kernel is Kernel.COPY
    ]


def test_what_is_kept_moves_once() -> None:
    """Neither what is kept nor what is new is copied to be joined."""
    ((size, source, target),) = copies(model(NEW))
    assert (size, source - target) == (ROWS * CHANNELS, NEW * CHANNELS)


def test_nothing_moves_where_the_same_rows_are_kept() -> None:
    assert copies(model(0)) == []


def test_with_an_engine_short_ones_are_copied() -> None:
    graph, size = read(model(NEW)), ROWS * CHANNELS
    # What is there at the end always lies where that of the beginning does.
    assert len(lower(graph, least_ring_bytes=size).parts) > 1
    assert len(lower(graph, least_ring_bytes=size + 1).parts) == 1
    for config, parts in (("simd", 3), ("64", 1)):
        assert len(compile_stages(model(NEW), config).network.parts) == parts
    assert size < COPIED_BYTES


@pytest.mark.parametrize("options", [{"is_reversed": True}, {"gives_all": True}])
def test_what_is_still_read_is_not_overwritten(options: dict[str, bool]) -> None:
    """Rows that move up, or an output of the model, must not lie where the state does."""
    found = copies(model(0 if "is_reversed" in options else NEW, **options))
    assert [size for size, _, _ in found] == [ROWS * CHANNELS] * 2
    for size, source, target in found:
        assert source + size <= target or target + size <= source


def test_states_have_their_place_for_all_steps() -> None:
    compilation = compile_stages(model(NEW), "64")
    (state,) = compilation.program.states
    (tensor,) = (item.before for item in compilation.network.graph.states)
    here = range(state.ref.offset, state.ref.offset + state.ref.bytes)
    assert compilation.memory.tensors[tensor] == state.ref.offset
    for item in compilation.memory.placements:
        for need in item.buffer.needs:
            start = item.offset + need.offset
            if start < here.stop and here.start < start + need.bytes:
                assert (need.first, need.last) == (-1, len(compilation.calls))


def delays(first: int, *, is_reversed: bool = False, is_read: bool = False) -> bytes:
    """Filter over time, three times in a row; the last state may be an output, too."""
    builder = StreamingBuilder()
    x = builder.tensor((1, 1, 1, CHANNELS), **SCALE)
    last = x
    for name in "abc":
        builder.variable(name, np.zeros(OLD, np.int8), **SCALE)
        joined = builder.tensor((1, ROWS + 1, 1, CHANNELS), **SCALE)
        before = builder.read(name, OLD, **SCALE)
        parts = [last, before] if is_reversed else [before, last]
        builder.operator("CONCATENATION", parts, [joined], axis=1)
        after, last = builder.tensor(OLD, **SCALE), builder.tensor((1, 1, 1, CHANNELS), **SCALE)
        numbers = [
            builder.tensor((4,), np.int32, data=np.int32(value))
            for value in ((0, first, 0, 0), OLD)
        ]
        builder.operator("SLICE", [joined, *numbers], [after])
        builder.assign(name, after)
        data = np.ones((1, ROWS + 1, 1, CHANNELS), np.int8)
        weights = builder.tensor(data.shape, data=data, scale=0.1)
        builder.operator(
            *("DEPTHWISE_CONV_2D", [joined, weights], [last]),
            padding=1,
            strideH=1,
            strideW=1,
            depthMultiplier=1,
        )
    outputs = [last]
    if is_read:
        outputs.append(builder.tensor(OLD, **SCALE))
        builder.operator("RELU", [before], outputs[1:])
    return builder.build([x], outputs)


def writing_lists(raw: bytes) -> list[int]:
    """Give how many states each list writes that writes any."""
    compilation = compile_stages(raw, "64")
    writers = compilation.network.state_writers
    assert len(writers) == 3
    counts = [len(writers & set(call.layers)) for call in compilation.calls]
    return [count for count in counts if count]


def test_the_engine_writes_states_in_the_list_that_joins_them() -> None:
    assert writing_lists(delays(1)) == [3]
    assert len(compile_stages(delays(1), "64").calls) == 1


def test_states_are_loaded_before_what_lies_in_their_place_is_done(
    monkeypatch: pytest.MonkeyPatch, zoo_model: Callable[[str], Path]
) -> None:
    model = zoo_model("keyword_scrambled_8bit")

    def jobs_waited_for() -> int:
        (plan,) = compile_stages(model, "64").engine.plans
        pairs = zip(plan.events, plan.waits, strict=True)
        return sum(n for event, n in pairs if isinstance(event, Transfer) and not event.is_store)

    early = jobs_waited_for()
    monkeypatch.setattr(events, "_EARLIER_EVENTS", 0)
    assert early < jobs_waited_for()


def test_states_whose_rows_move_up_are_written_last() -> None:
    assert writing_lists(delays(0, is_reversed=True)) == [3]
    assert len(compile_stages(delays(0, is_reversed=True), "64").calls) == 2


def test_a_state_that_something_else_reads_is_written_last() -> None:
    assert writing_lists(delays(1, is_read=True)) == [2, 1]
    order = [call.layers for call in compile_stages(delays(1, is_read=True), "64").calls]
    assert len(order) == 2
