"""Sums behind convolutions: where they are, and that every byte is that of the CPU."""

import numpy as np
import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.driver import Compilation
from kiwicha.contract.engine import EngineJob, JobFlag, JobKind
from kiwicha.sim.reference import executor as reference
from tests.support.models.tflite_builder import ModelBuilder

ROWS = 12


class Model:
    """Layers of int8 images of 12 rows and columns, each with a scale of its own."""

    def __init__(self, channels: int = 16) -> None:
        self.rng = np.random.default_rng(0)
        self.builder = ModelBuilder()
        self.channels = {}
        self.first = self.tensor(channels)

    def tensor(self, channels: int, zero_point: int = 3) -> int:
        """Add an image."""
        scale = float(self.rng.uniform(0.03, 0.05))
        found = self.builder.tensor((1, ROWS, ROWS, channels), scale=scale, zero_point=zero_point)
        self.channels[found] = channels
        return found

    def conv(self, x: int, channels: int, kernel: int = 3) -> int:
        """Add a CONV_2D."""
        shape = (channels, kernel, kernel, self.channels[x])
        scale = 1 / (100 * np.sqrt(np.prod(shape[1:])))
        weights = self.rng.integers(-127, 128, shape, np.int8)
        w = self.builder.tensor(shape, scale=scale, data=weights)
        y = self.tensor(channels)
        self.builder.operator("CONV_2D", [x, w, -1], [y], padding=0, strideH=1, strideW=1)
        return y

    def sum(self, a: int, b: int, code: str = "ADD", activation: int = 0, zero: int = 3) -> int:
        """Add an ADD or SUB."""
        y = self.tensor(self.channels[a], zero)
        self.builder.operator(code, [a, b], [y], fusedActivationFunction=activation)
        return y

    def compiled(self, config: str, *outputs: int) -> Compilation:
        """Compile the model, and compare its answers with those of the CPU alone."""
        raw = self.builder.build([self.first], list(outputs))
        shape = (1, ROWS, ROWS, self.channels[self.first])
        values = self.rng.integers(-128, 128, shape, np.int8)
        found = compile_stages(raw, config)
        plain = compile_stages(raw, "baseline")
        wanted = reference.run(plain.program, (values,))
        assert len({*wanted[0].reshape(-1).tolist()}) > 100
        for one, other in zip(reference.run(found.program, (values,)), wanted, strict=True):
            np.testing.assert_array_equal(one, other)
        return found


def kinds(found: Compilation) -> list[str]:
    """Return what the jobs are: with a + those to whose results others are added."""
    names = []
    for job in (job for item in found.lists for job in item.jobs):
        is_fused = isinstance(job, EngineJob) and bool(job.flags & JobFlag.FUSED)
        name = JobKind(job.kind).name
        names.append({"ADD": "tables", "CONV": "CONV+"}[name] if is_fused else name)
    return names


def order(found: Compilation) -> list[str]:
    """Return the same, each once: there may be several stripes."""
    return list(dict.fromkeys(kinds(found)))


def layers(found: Compilation) -> list[int]:
    """Return the layers of jobs, likewise."""
    return list(dict.fromkeys(job.layer for item in found.lists for job in item.jobs))


@pytest.mark.parametrize("config", ["32", "64", "64-r4", "128", "256"])
@pytest.mark.parametrize("code", ["ADD", "SUB"])
@pytest.mark.parametrize("is_first", [True, False])
def test_the_end_of_a_block(config: str, code: str, *, is_first: bool) -> None:
    model = Model(32)
    begun = model.first
    ended = model.conv(model.conv(begun, 32), 32)
    operands = (ended, begun) if is_first else (begun, ended)
    found = model.compiled(config, model.sum(*operands, code))
    assert order(found) == ["CONV", "tables", "CONV+"]


def test_a_convolution_beside_it_comes_before() -> None:
    model = Model()
    main = model.conv(model.conv(model.first, 24), 24)
    found = model.compiled("64", model.sum(main, model.conv(model.first, 24, 1)))
    assert order(found) == ["CONV", "tables", "CONV+"]
    # Jobs count for the layers that they compute.
    assert layers(found) == [0, 2, 3, 1]


def test_the_first_layer_of_a_region_may_come_last() -> None:
    model = Model()
    found = model.compiled(
        "64", model.sum(model.conv(model.first, 24), model.conv(model.first, 24, 1))
    )
    assert order(found) == ["CONV", "tables", "CONV+"]
    # Jobs count for the layers that they compute, also if the list begins with a later one.
    assert [step.layer for step in found.program.steps] == [0]
    assert layers(found) == [1, 2, 0]


@pytest.mark.parametrize("config", ["64-8k", "128-8k"])
def test_in_stripes(config: str) -> None:
    model = Model(64)
    begun = model.first
    found = model.compiled(config, model.sum(model.conv(model.conv(begun, 16), 64), begun))
    assert kinds(found).count("CONV+") > 1
    assert kinds(found).count("tables") == kinds(found).count("CONV+")


def test_what_is_read_elsewhere_has_a_job_for_its_sum() -> None:
    model = Model()
    main = model.conv(model.conv(model.first, 16), 16)
    total = model.sum(main, model.first)
    assert "CONV+" not in kinds(model.compiled("64", main, total))


def test_squares_of_differences_have_a_job() -> None:
    model = Model()
    y = model.tensor(16)
    inputs = [model.conv(model.conv(model.first, 16), 16), model.first]
    model.builder.operator("SQUARED_DIFFERENCE", inputs, [y])
    assert "CONV+" not in kinds(model.compiled("64", y))


def test_what_a_convolution_reads_is_added_by_a_job() -> None:
    model = Model()
    found = model.compiled("64", model.sum(model.conv(model.first, 16), model.first))
    assert "CONV+" not in kinds(found)


def test_few_products_have_a_job_for_their_sum() -> None:
    model = Model()
    side = model.conv(model.conv(model.first, 16), 16, 1)
    assert "CONV+" not in kinds(model.compiled("64", model.sum(side, model.first)))


def test_channels_that_fill_no_word_have_a_job_for_their_sum() -> None:
    model = Model(12)
    ended = model.conv(model.conv(model.first, 16), 12)
    found = model.compiled("64", model.sum(ended, model.first))
    assert "CONV+" not in kinds(found)


@pytest.mark.parametrize(("zero", "is_fused"), [(-128, True), (3, False)])
def test_limits_are_those_of_int8(zero: int, *, is_fused: bool) -> None:
    model = Model()
    ended = model.conv(model.conv(model.first, 16), 16)
    total = model.sum(ended, model.first, activation=1, zero=zero)
    assert ("CONV+" in kinds(model.compiled("64", total))) == is_fused
