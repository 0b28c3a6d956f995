"""Which weight streams are coded: never a longer one, and for cycles none that costs time."""

from itertools import count
from pathlib import Path

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.cpu.costs import cycles_by_step
from kiwicha.compiler.driver import plan_engine
from kiwicha.compiler.engine.codegen import weight_coding
from kiwicha.compiler.engine.codegen.weight_coding import code_weights
from kiwicha.compiler.engine.cost.cycles import predict_list, predict_program
from kiwicha.compiler.engine.cost.predictions import layer_predictions
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.compiler.lower.lower import lower
from kiwicha.compiler.tflite.reader import read
from kiwicha.contract import configs
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import BLOCK_KINDS, EngineJob, JobFlag
from kiwicha.contract.goal import Goal
from kiwicha.errors import UsageError
from kiwicha.program.codec import blocks
from kiwicha.program.codec import streams as codec
from kiwicha.program.codec.streams import Shape
from kiwicha.program.weight_streams import stream_shape
from kiwicha.zoo import models as zoo
from tests.support.models import random_networks

SLOW = {"mobilenet_v2"}
WEIGHT_BITS = {"vww": 1.5, "ad": 5.6, "person_detect": 7.9, "mobilenet_v2": 6.7}
"""Stored bits per weight of the model that must not be exceeded when optimized for size."""
MODELS = {*WEIGHT_BITS, "kws", "resnet8", "mnv2"}
MOST_OF_RAW = 1.01


def lists(seed: int, macs: int) -> tuple[EngineList, ...]:
    network = lower(read(random_networks.engine_network(seed).model))
    return plan_engine(network, config(macs)).lists


def config(macs: int) -> configs.Config:
    return configs.ENGINE_CONFIGS[str(macs)]


def stream(found: EngineList, job: EngineJob) -> bytes:
    return found.streams[job.weights_offset : job.weights_offset + job.weights_bytes]


def cycles(found: EngineList, macs: int) -> int:
    return predict_list(found.jobs, found.engine_transfers, macs)[0]


@pytest.mark.parametrize("macs", [32, 64, 128, 256])
@pytest.mark.parametrize("goal", Goal)
@pytest.mark.parametrize("seed", range(6))
def test_streams_stay_what_they_are(seed: int, goal: Goal, macs: int) -> None:
    for raw in lists(seed, macs):
        found = code_weights(raw, config(macs), goal)
        assert found.transfers == raw.transfers
        for job, before in zip(found.weighted_jobs, raw.weighted_jobs, strict=True):
            expected = stream(raw, before)
            shape = stream_shape(job, macs)
            if job.flags & JobFlag.CODED:
                assert codec.decode(stream(found, job), shape) == expected
                assert job.weights_bytes < before.weights_bytes
            else:
                assert stream(found, job) == expected
                coded = codec.encode(expected, shape)
                assert goal is Goal.CYCLES or len(coded) >= len(expected)
        sizes = {job.weights_offset: job.weights_bytes for job in found.weighted_jobs}
        assert sum(sizes.values()) == len(found.streams)


@pytest.mark.parametrize("macs", [32, 64, 128, 256])
def test_cycles_are_not_spent_for_size(macs: int) -> None:
    smaller = slower = 0
    for seed in range(12):
        for raw in lists(seed, macs):
            fast = code_weights(raw, config(macs), Goal.CYCLES)
            small = code_weights(raw, config(macs), Goal.SIZE)
            assert cycles(fast, macs) <= cycles(raw, macs)
            assert len(small.streams) <= len(fast.streams) <= len(raw.streams)
            smaller += len(fast.streams) < len(raw.streams)
            slower += cycles(small, macs) > cycles(fast, macs)
    # Else both goals were the same thing.
    assert smaller
    assert slower


def test_size_does_not_take_a_list_past_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    slower = 0
    for raw in (item for seed in range(6) for item in lists(seed, 64)):
        bound = cycles(raw, 64)
        slower += cycles(code_weights(raw, config(64), Goal.SIZE), 64) > bound
        with monkeypatch.context() as patch:
            patch.setattr(weight_coding, "MAX_LIST_CYCLES", bound)
            assert cycles(code_weights(raw, config(64), Goal.SIZE), 64) <= bound
    assert slower


def test_streams_of_a_long_list_are_tried_together(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = 0
    for raw in (item for seed in range(6) for item in lists(seed, 64)):
        alone = code_weights(raw, config(64), Goal.CYCLES)
        with monkeypatch.context() as patch:
            patch.setattr(weight_coding, "_TRIED_JOBS", len(raw.jobs))
            found = code_weights(raw, config(64), Goal.CYCLES)
        assert cycles(found, 64) <= cycles(raw, 64)
        assert len(found.streams) <= len(raw.streams)
        fewer += len(found.streams) != len(alone.streams)
    assert fewer


@pytest.mark.parametrize("name", sorted(WEIGHT_BITS.keys() - SLOW))
def test_small_weights_are_never_the_faster_ones(name: str, zoo_model) -> None:
    model = zoo_model(Path(zoo.find(name).file).stem)
    fast, small = (compile_model(model, "64", optimize=goal) for goal in Goal)
    assert predict_program(fast)[0] <= predict_program(small)[0]


def test_raw_sizes_are_those_without_a_code() -> None:
    smaller = 0
    for seed in range(12):
        model = random_networks.engine_network(seed).model
        both = [compile_stages(model, config, optimize="size") for config in ("64", "64-raw")]
        coded, raw = (layer_predictions(item.network.graph, item.program) for item in both)
        assert coded.raw_weight_bytes == raw.raw_weight_bytes == raw.weight_bytes
        smaller += coded.weight_bytes < raw.weight_bytes
    assert smaller


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name in SLOW else [])
        for name in sorted(MODELS)
    ],
)
def test_models_reach_their_sizes(name: str, zoo_model) -> None:
    model = zoo_model(Path(zoo.find(name).file).stem)
    found = compile_stages(model, "64", optimize=Goal.SIZE)
    sizes = layer_predictions(found.network.graph, found.program)
    bits = 8 * sizes.weight_bytes / sizes.weights
    assert bits <= WEIGHT_BITS.get(name, bits)
    assert sizes.weight_bytes <= MOST_OF_RAW * sizes.raw_weight_bytes


@pytest.mark.parametrize("goal", Goal)
def test_blocks_are_what_the_array_multiplies_with(goal: Goal) -> None:
    """A coded stream holds a job's weights, whatever zero point it has; heads are as before."""
    target = find_config("64-blocks")
    coded = 0
    for raw in (item for seed in range(8) for item in lists(seed, 64)):
        found = code_weights(raw, target, goal)
        for job, before in zip(found.weighted_jobs, raw.weighted_jobs, strict=True):
            if not job.flags & JobFlag.CODED:
                assert stream(found, job) == stream(raw, before)
                continue
            coded += 1
            shape = stream_shape(job, 64)
            assert job.weights_bytes < before.weights_bytes
            assert job.kind in BLOCK_KINDS
            back = blocks.decode(stream(found, job), shape)
            weights, expected = (
                blocks.weights_of(
                    octets,
                    shape,
                    zero_point,
                    is_unsigned=bool(flags & JobFlag.UNSIGNED),
                )
                for octets, zero_point, flags in (
                    (blocks.with_weights(back, shape, job.weight_zero_point), 0, job.flags),
                    (stream(raw, before), before.weight_zero_point, before.flags),
                )
            )
            np.testing.assert_array_equal(weights, expected)
            assert blocks.split(back, shape)[0].tolist() == (
                blocks.split(stream(raw, before), shape)[0].tolist()
            )
    assert coded


def test_weights_around_another_number_are_moved_to_zero() -> None:
    rng = np.random.default_rng(2)
    shape = Shape(1, 6, 64)
    weights = rng.normal(-13, 5, shape.body * 16).round().astype(np.int8)
    raw = bytes(96) + weights.tobytes()
    found = weight_coding._in_blocks(raw, shape, 0, is_unsigned=False)
    assert found is not None
    zero_point, coded = found
    assert zero_point in {12, 13, 14}
    assert len(coded) < len(blocks.encode(raw, shape))


def test_an_unknown_goal_is_refused() -> None:
    model = random_networks.engine_network(0).model
    with pytest.raises(UsageError, match=r"^goal must be one of cycles, size, not speed$"):
        compile_model(model, "64", optimize="speed")


def test_predictions_of_layers() -> None:
    for seed in count():
        found = compile_stages(random_networks.engine_network(seed).model, "64", optimize="size")
        sizes = layer_predictions(found.network.graph, found.program)
        if sizes.coded_streams:
            break
    total, lists = predict_program(found.program)
    assert sizes.cycles == total
    jobs = [job for _, jobs in lists.values() for job in jobs]
    cpu = cycles_by_step(found.program.steps)
    expected = sum(job.end - job.start for job in jobs) + sum(cpu.values())
    assert sum(layer.cycles for layer in sizes.layers) == expected
    assert sum(layer.busy for layer in sizes.layers) == sum(job.busy for job in jobs)
    lines = sizes.table().splitlines()
    assert len(lines) == 1 + len(sizes.layers) + 2
    assert lines[-2].startswith(f"total {total} cycles, ")
    assert f"{sizes.coded_streams} of {sizes.streams} weight streams coded" in lines[-1]
    for layer, line in zip(sizes.layers, lines[1:], strict=False):
        assert line.split()[:3] == [str(layer.index), layer.operator, str(layer.cycles)]
        kinds = {"CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"}
        assert bool(layer.weights) is (layer.operator in kinds and layer.bound != "cpu")
