"""Lists of the engine with layers that lie too far from a step's own for descriptors."""

import functools

import numpy as np

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.contract import cfu
from kiwicha.contract.engine import MAX_U8
from kiwicha.program.image import Program
from kiwicha.program.step_lists import list_of
from kiwicha.report.run_report import make_report
from tests.support.models.tflite_builder import ModelBuilder

LAYERS = MAX_U8 + 4
SHAPE = (1, 2, 2, 8)


@functools.cache
def long_network() -> Program:
    """Compile depthwise convolutions that are one list."""
    builder, rng = ModelBuilder(), np.random.default_rng(0)
    images = [builder.tensor(SHAPE, scale=0.05) for _ in range(LAYERS + 1)]
    for number in range(LAYERS):
        data = rng.integers(-127, 128, (1, 3, 3, SHAPE[-1]), np.int8)
        weights = builder.tensor(data.shape, scale=0.01, data=data)
        builder.operator(
            "DEPTHWISE_CONV_2D",
            [images[number], weights, -1],
            [images[number + 1]],
            padding=0,
            strideH=1,
            strideW=1,
            depthMultiplier=1,
        )
    return compile_model(builder.build(images[:1], images[-1:]), "64")


def test_each_job_has_its_layer() -> None:
    program = long_network()
    (step,) = program.steps
    assert [job.layer for job in list_of(program, step).jobs] == list(range(LAYERS))


def test_the_stored_form_has_far_layers_together() -> None:
    program = Program.from_bytes(long_network().to_bytes())
    assert program == long_network()
    (step,) = program.steps
    expected = [min(layer, MAX_U8) for layer in range(LAYERS)]
    assert [job.layer for job in list_of(program, step).jobs] == expected


def test_far_layers_have_cycles_of_their_own() -> None:
    program = long_network()
    predicted = predict_layers(program)
    assert min(predicted) > 0
    ends = [10 * (number + 1) for number in range(LAYERS)]
    run = make_report(
        program,
        model="long",
        config=program.config,
        target="sim",
        clock_hz=cfu.CLOCK_HZ,
        step_cycles=[[ends[-1] + 7]],
        inference_cycles=[ends[-1] + 7],
        bit_exact=True,
        job_ends=[[ends]],
        predicted=predicted,
    )
    assert [layer.cycles for layer in run.layers] == [*[10] * (LAYERS - 1), 17]
    assert [layer.predicted for layer in run.layers] == predicted
