"""How much work a compilation is: evaluations, which do not depend on the machine, and time."""

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost import timeline
from kiwicha.compiler.engine.schedule import fusion
from kiwicha.compiler.engine.schedule.estimates.estimate import Estimate
from kiwicha.compiler.memory.placement import _Placer
from tests.support.models.tflite_builder import ModelBuilder

MOST = {"schedule": 2, "_bytes": 2800, "_cycles": 3200, "place": 110, "advance": 26}
"""Calls of each function, twice what they were when this was written."""
LOOPS = 75
"""Compiling takes less than so many loops, three times what it took."""


@pytest.fixture(scope="module")
def content() -> bytes:
    """Give inverted residuals, whose wide tensors do not fit the scratchpad."""
    rng = np.random.default_rng(1)
    builder = ModelBuilder()
    size, channels = 112, 16
    image = tensor = builder.tensor((1, size, size, channels), scale=0.5)

    def layer(name: str, kernel: int, outputs: int, stride: int = 1) -> int:
        is_depthwise = name == "DEPTHWISE_CONV_2D"
        shape = (1, kernel, kernel, outputs)
        if not is_depthwise:
            shape = (outputs, kernel, kernel, channels)
        values = rng.integers(-127, 128, shape, np.int8)
        weights = builder.tensor(shape, scale=0.01, data=values)
        found = builder.tensor((1, size // stride, size // stride, outputs), scale=0.5)
        options = {"depthMultiplier": 1} if is_depthwise else {}
        steps = {"strideH": stride, "strideW": stride, "padding": 0}
        builder.operator(name, [tensor, weights, -1], [found], **steps, **options)
        return found

    for narrow, stride in ((24, 2), (24, 1), (32, 2), (32, 1), (64, 2), (64, 1), (96, 1), (160, 2)):
        before, wide = tensor, 6 * channels
        tensor, channels_before, channels = layer("CONV_2D", 1, wide), channels, wide
        tensor = layer("DEPTHWISE_CONV_2D", 3, wide, stride)
        size //= stride
        tensor, channels = layer("CONV_2D", 1, narrow), narrow
        if stride == 1 and narrow == channels_before:
            total = builder.tensor((1, size, size, narrow), scale=0.5)
            builder.operator("ADD", [before, tensor], [total])
            tensor = total
    return builder.build([image], [tensor])


def test_what_is_evaluated(content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    counts: Counter[str] = Counter()

    def count(place: Any, name: str) -> None:
        function: Callable[..., Any] = getattr(place, name)

        def counted(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(place, name, counted)

    for place, name in (
        (fusion, "schedule"),
        (Estimate, "_bytes"),
        (Estimate, "_cycles"),
        (_Placer, "place"),
        (timeline, "advance"),
    ):
        count(place, name)
    compile_model(content, "64")
    assert counts.keys() == MOST.keys()
    assert all(counts[name] <= most for name, most in MOST.items()), counts


def loop() -> None:
    """Take about 50 ms."""
    total = 0
    for number in range(1_000_000):
        total += number & 7


def test_time_beside_a_loop(content: bytes) -> None:
    times = []
    for work in (loop, lambda: compile_model(content, "64"), loop):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    first, compiling, last = times
    assert compiling < LOOPS * max(first, last)
