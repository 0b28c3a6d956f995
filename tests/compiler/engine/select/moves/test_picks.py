"""Single bytes in an order of their own, as convolutions: byte for byte, and at what pace."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler import compile_stages
from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract.engine import EngineJob, SumFlag
from kiwicha.contract.moves import EngineMove
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

Bytes = NDArray[np.int8]
BORDER = 3
"""Zero point: what PAD writes."""


def compiled(
    operator: str,
    shape: Sequence[int],
    expected: Callable[[Bytes], Bytes],
    operands: Sequence[Any],
    config: str,
    **options: int,
) -> Compilation:
    """Compile a model of one operator, and compare what it gives with numpy."""
    values = np.random.default_rng(sum(shape)).integers(-128, 128, shape, np.int8)
    wanted = expected(values)
    builder = ModelBuilder()
    x = builder.tensor(shape, scale=0.5, zero_point=BORDER)
    y = builder.tensor(wanted.shape, scale=0.5, zero_point=BORDER)
    arrays = [np.array(operand, np.int32) for operand in operands]
    constants = [builder.tensor(item.shape, np.int32, data=item) for item in arrays]
    builder.operator(operator, [x, *constants], [y], **options)
    found = compile_stages(builder.build([x], [y]), config)
    (answer,) = reference.run(found.program, [values])
    np.testing.assert_array_equal(answer, wanted)
    return found


def gathered(shape: Sequence[int], order: Sequence[int], config: str) -> Compilation:
    """Do the same with a GATHER of channels."""
    axis = len(shape) - 1
    return compiled("GATHER", shape, lambda x: x[..., list(order)], [order], config, axis=axis)


def is_picked(found: Compilation) -> bool:
    """Whether there are jobs that are no moves."""
    return any(not isinstance(job, EngineMove) for item in found.lists for job in item.jobs)


SHUFFLED = (*range(0, 116, 2), *range(1, 116, 2))


@pytest.mark.parametrize("config", ["32", "64", "128", "256", "64-8k"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((1, 32, 32, 3), (2, 1, 0)), ((1, 16, 8, 116), SHUFFLED), ((9, 16, 4), (3, 0, 0, 1, 2))],
    ids=["reversed", "shuffled", "repeated"],
)
def test_channels_are_gathered(shape: Sequence[int], order: Sequence[int], config: str) -> None:
    # Small engines, and those with many stripes, gain too little.
    assert is_picked(gathered(shape, order, config)) or config in {"32", "64-8k"}


@pytest.mark.parametrize("config", ["64", "256", "64-8k"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((1, 33, 35, 3), (2, 1, 0)), ((1, 27, 27, 10), (*range(0, 10, 2), *range(1, 10, 2)))],
    ids=["reversed", "shuffled"],
)
def test_pixels_that_are_no_words(shape: Sequence[int], order: Sequence[int], config: str) -> None:
    assert is_picked(gathered(shape, order, config))


@pytest.mark.parametrize("seed", range(12))
def test_random_orders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    channels = int(rng.integers(2, 40))
    shape = (1, *rng.integers(1, 17, 2).tolist(), channels)
    order = rng.integers(0, channels, rng.integers(1, 2 * channels)).tolist()
    gathered(shape, order, ("32", "64", "128", "256")[seed % 4])


OTHERS: dict[str, tuple[str, list[Any], Callable[[Bytes], Bytes], dict[str, int]]] = {
    "every second": (
        "STRIDED_SLICE",
        [(0, 0, 0, 0), (1, 32, 32, 6), (1, 1, 1, 2)],
        lambda x: x[..., ::2],
        {},
    ),
    "two of six": ("SLICE", [(0, 0, 0, 3), (1, 32, 32, 2)], lambda x: x[..., 3:5], {}),
    "backwards": ("REVERSE_V2", [(3,)], lambda x: x[..., ::-1], {}),
    "of two images in turn": (
        "TRANSPOSE",
        [(0, 2, 1)],
        lambda x: x.reshape(512, 2, 12).transpose(0, 2, 1),
        {},
    ),
    "mirrored": (
        "MIRROR_PAD",
        [[[0, 0], [0, 0], [0, 0], [1, 1]]],
        lambda x: np.pad(x, ((0, 0), (0, 0), (0, 0), (1, 1)), mode="reflect"),
        {"mode": 0},
    ),
    "padded": (
        "PAD",
        [[[0, 0], [0, 0], [0, 0], [1, 1]]],
        lambda x: np.pad(x, ((0, 0), (0, 0), (0, 0), (1, 1)), constant_values=BORDER),
        {},
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_orders_of_channels(name: str) -> None:
    operator, operands, expected, options = OTHERS[name]
    for config in ("64", "256"):
        shape = (512, 2, 12) if operator == "TRANSPOSE" else (1, 32, 32, 6)
        found = compiled(operator, shape, expected, operands, config, **options)
        assert is_picked(found)


def test_rows_are_left_out() -> None:
    ranges = [(0, 0, 0, 0), (1, 64, 64, 1), (1, 2, 2, 1)]
    found = compiled("STRIDED_SLICE", (1, 64, 64, 1), lambda x: x[:, ::2, ::2], ranges, "64")
    assert is_picked(found)


def test_sums_of_two_jobs() -> None:
    """Outputs from both ends of long pixels: two jobs need fewer words than one."""
    found = compiled("TRANSPOSE", (784, 2, 58), lambda x: x.transpose(0, 2, 1), [(0, 2, 1)], "64")
    jobs = [job for item in found.lists for job in item.jobs]
    assert any(isinstance(job, EngineJob) and job.sums & SumFlag.KEEP for job in jobs)


@pytest.mark.parametrize(
    ("shape", "order", "least"),
    [
        ((1, 96, 96, 3), (2, 1, 0), 3.0),
        ((1, 28, 28, 116), SHUFFLED, 2.5),
        ((1, 225, 225, 3), (2, 1, 0), 2.5),
    ],
    ids=["reversed", "shuffled", "odd"],
)
def test_two_bytes_a_cycle(shape: Sequence[int], order: Sequence[int], least: float) -> None:
    """From DRAM to DRAM; moves of single bytes give less than one."""
    cycles, _ = predict_program(gathered(shape, order, "64").program)
    assert math.prod(shape) / cycles > least
