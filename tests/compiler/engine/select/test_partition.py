"""Regions of the engine: where they end, and which layers stay with the CPU."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model, compile_stages
from kiwicha.compiler.engine.schedule import cuts, residency
from kiwicha.compiler.engine.schedule.blocks import columns, partial_sums, patchworks
from kiwicha.contract.configs import ALL_CONFIGS, ENGINE_CONFIGS, Config
from kiwicha.contract.moves import EngineMove
from kiwicha.contract.program import Kernel, Where
from kiwicha.sim.reference import executor as reference
from tests.support.models import random_networks
from tests.support.models.tflite_builder import ModelBuilder

ENGINE, CPU, SIMD, NONE = Where.ENGINE, Where.CPU, Where.SIMD, Where.NONE


class Layers:
    """Layers one after the other, tensor ``last`` being the newest."""

    def __init__(self, *shape: int) -> None:
        self.builder = ModelBuilder()
        self.shape = shape
        self.first = self.last = self.builder.tensor(shape, scale=0.5, zero_point=3)

    def _next(self, *shape: int) -> int:
        self.shape = shape
        self.last = self.builder.tensor(shape, scale=0.5, zero_point=-4)
        return self.last

    def _weights(self, *shape: int) -> int:
        values = np.random.default_rng(len(shape)).integers(-127, 128, shape, np.int8)
        return self.builder.tensor(shape, scale=0.003, data=values)

    def conv(self, channels: int) -> "Layers":
        """Add a 1x1 convolution."""
        operands = [self.last, self._weights(channels, 1, 1, self.shape[3])]
        output = self._next(*self.shape[:3], channels)
        self.builder.operator("CONV_2D", operands, [output], padding=0, strideH=1, strideW=1)
        return self

    def connected(self, outputs: int) -> "Layers":
        """Add a fully connected layer."""
        operands = [self.last, self._weights(outputs, self.shape[-1])]
        self.builder.operator("FULLY_CONNECTED", operands, [self._next(1, outputs)])
        return self

    def reshape(self, *shape: int) -> "Layers":
        """Add a RESHAPE."""
        operands = [self.last]
        options = {"newShape": np.array(shape, np.int32)}
        self.shape = shape
        self.last = self.builder.tensor(shape, scale=0.5, zero_point=-4)
        self.builder.operator("RESHAPE", operands, [self.last], **options)
        return self

    def softmax(self) -> "Layers":
        """Add a SOFTMAX, which the engine does not do."""
        operands = [self.last]
        self.last = self.builder.tensor(self.shape, scale=1 / 256, zero_point=-128)
        self.builder.operator("SOFTMAX", operands, [self.last], beta=1.0)
        return self

    def scalar(self, operator: str) -> "Layers":
        """Add an operator with a constant number."""
        number = self.builder.tensor((1,), scale=0.25, data=np.array([17]))
        operands = [self.last, number]
        self.builder.operator(operator, operands, [self._next(*self.shape)])
        return self

    def pair(self, operator: str, *operands: int) -> "Layers":
        """Add an operator with two tensors of the shape."""
        self.builder.operator(operator, operands, [self._next(*self.shape)])
        return self

    def build(self, *more_outputs: int) -> bytes:
        """Give the model."""
        return self.builder.build([self.first], [self.last, *more_outputs])


def places(raw: bytes, **options: Any) -> list[Where]:
    """Give where the layers are done, after a comparison with the CPU alone."""
    stages = compile_stages(raw, "64", **options)
    shape = stages.program.inputs[0].shape
    x = np.random.default_rng(0).integers(-128, 128, shape, np.int8)
    expected = reference.run(compile_model(raw, "baseline"), [x])
    assert all(map(np.array_equal, reference.run(stages.program, [x]), expected))
    return [layer.where for layer in stages.program.layers]


def test_regions_end_at_layers_of_the_cpu() -> None:
    raw = Layers(1, 4, 4, 8).conv(16).conv(8).softmax().conv(8).build()
    assert places(raw) == [ENGINE, ENGINE, Where.CPU, ENGINE]
    kernels = [step.kernel for step in compile_model(raw, "64").steps]
    assert kernels == [Kernel.ENGINE, Kernel.SOFTMAX, Kernel.ENGINE]


def test_padding_between_pixels_stays_inside() -> None:
    assert places(Layers(1, 4, 4, 3).conv(5).conv(8).build()) == [ENGINE, ENGINE]
    assert moves(Layers(1, 4, 4, 3).conv(5).conv(8).build()) == 0
    # A move leaves it out where somebody else reads the pixels.
    assert places(Layers(1, 4, 4, 3).conv(5).build()) == [ENGINE]
    assert moves(Layers(1, 4, 4, 3).conv(5).build()) == 1
    assert places(Layers(1, 1, 1, 3).conv(5).build()) == [ENGINE]
    assert moves(Layers(1, 1, 1, 3).conv(5).build()) == 0
    layers = Layers(1, 4, 4, 3).conv(5)
    middle = layers.last
    assert places(layers.conv(8).build(middle)) == [ENGINE, ENGINE]
    assert moves(layers.build(middle)) == 1


def moves(raw: bytes) -> int:
    """Give how many moves there are in the lists of a model."""
    lists = compile_stages(raw, "64").lists
    return sum(isinstance(job, EngineMove) for found in lists for job in found.jobs)


@pytest.mark.parametrize(("channels", "count"), [(8, 0), (5, 1)])
def test_padding_between_pixels_is_left_out_for_a_flat_reader(channels: int, count: int) -> None:
    layers = Layers(1, 3, 3, 4).conv(channels).reshape(1, 9 * channels).connected(7)
    assert places(layers.build()) == [ENGINE, NONE, ENGINE]
    assert moves(layers.build()) == count


def test_an_image_of_the_cpu_and_one_of_the_engine_have_equal_pixels() -> None:
    for side in (8, 80):
        layers = Layers(1, side, side, 12)
        first = layers.first
        last = layers.conv(12).last
        raw = layers.pair("ADD", last, first).build()
        assert places(raw) == [ENGINE, ENGINE]
        assert moves(raw) >= 1


def test_tables_compose() -> None:
    raw = Layers(1, 4, 4, 8).scalar("MUL").scalar("SUB").scalar("ADD").conv(8).build()
    assert places(raw, has_tables=True) == [NONE, NONE, ENGINE, ENGINE]
    (found,) = compile_stages(raw, "64", has_tables=True).lists
    assert len(found.jobs) == 2
    assert found.region.positions == (2, 3)


def test_tables_with_other_readers_do_not_compose() -> None:
    layers = Layers(1, 4, 4, 8).scalar("MUL")
    middle = layers.last
    raw = layers.scalar("SUB").build(middle)
    assert places(raw, has_tables=True) == [ENGINE, ENGINE]
    (found,) = compile_stages(raw, "64", has_tables=True).lists
    assert len(found.jobs) == 2


def test_layers_that_do_not_fit_stay_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = Layers(1, 1, 1, 8).conv(1024).conv(8).build()
    assert places(raw) == [ENGINE, ENGINE]
    small = Config("small", True, "", 64, 512)
    for known in (ALL_CONFIGS, ENGINE_CONFIGS):
        monkeypatch.setitem(known, small.name, small)
    program = compile_model(raw, small)
    assert [layer.where for layer in program.layers] == [SIMD, SIMD]


def limit_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (columns, cuts, partial_sums, patchworks, residency):
        monkeypatch.setattr(module, "MAX_REGION_JOBS", 4)


def test_long_regions_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    layers = Layers(1, 4, 4, 8)
    for _ in range(9):
        layers.conv(8)
    raw = layers.build()
    assert len(compile_model(raw, "64").steps) == 1
    limit_jobs(monkeypatch)
    assert places(raw) == [ENGINE] * 9
    counts = [step.params.job_count for step in compile_model(raw, "64").steps]
    assert sum(counts) == 9
    assert max(counts) <= 4


def test_a_layer_of_too_many_stripes_stays_with_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in (ALL_CONFIGS, ENGINE_CONFIGS):
        monkeypatch.setitem(known, "small", Config("small", True, "", 64, 1024))
    raw = Layers(1, 64, 16, 8).conv(8).build()
    (step,) = compile_model(raw, "small").steps
    assert step.params.job_count > 4
    limit_jobs(monkeypatch)
    assert [layer.where for layer in compile_model(raw, "small").layers] == [SIMD]


def test_the_cpu_alone_has_no_regions() -> None:
    case = random_networks.engine_network(1)
    steps = compile_model(case.model, "simd").steps
    assert all(step.kernel is not Kernel.ENGINE for step in steps)
