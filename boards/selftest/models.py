"""Small models, whose lists have jobs of one kind each, and of another only where it must be."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler import compile_model
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineCall, JobKind, job_kinds
from kiwicha.program.engine_list import EngineList, read_list
from kiwicha.program.image import Program
from kiwicha.tflite_writer.builder import ACTIVATIONS, ModelBuilder

__all__ = ["Example", "examples", "smallest"]

_SHAPE = (1, 8, 8, 16)
_SMALL_SHAPE = (1, 4, 4, 16)
_UNIT_SHAPE = (1, 12, 12, 16)
_UNIT_CHANNELS = 32
_SCALE, _ZERO_POINT = 0.05, -3
_PROBABILITY_SCALE = 1 / 256
_WEIGHT_SCALE = 0.01
_SEQUENCE = (1, 6, 16)
_UNITS = 16
_HIDDEN_SCALE, _CELL_SCALE = 1 / 128, 2.0**-12
_SHORT_SHAPE = (1, 4, 20, 6)
_SHORT_SCALES = (0.001, 0.0007, 0.0012)
_STRIDES = {"strideH": 1, "strideW": 1}
_DEPTHWISE = {**_STRIDES, "depthMultiplier": 1}


@dataclass(frozen=True)
class Example:
    """A Program of one list.

    Parameters
    ----------
    kind : JobKind
        What its jobs are there to check; those of the depthwise unit have others beside them, and
        steps of an LSTM others before them.
    program : Program
        Its only step is the list.
    """

    kind: JobKind
    program: Program

    @property
    def call(self) -> EngineCall:
        """The list's parameters."""
        params = self.program.steps[0].params
        assert isinstance(params, EngineCall)
        return params

    @property
    def image(self) -> bytes:
        """Jobs, transfers and weight streams."""
        place = self.call.image
        return self.program.constants[place.offset : place.offset + place.bytes]

    @property
    def list(self) -> EngineList:
        """Jobs and transfers."""
        return read_list(self.call, self.image)


def examples(config: Config, *, seed: int = 1) -> Iterator[Example]:
    """Yield an example of each kind of job that an engine has.

    Parameters
    ----------
    config : Config
        With an engine.
    seed : int
        Of the weights.
    """
    kinds = job_kinds(
        has_softmax=config.has_softmax,
        has_depthwise=config.has_depthwise,
        has_recurrent=config.has_recurrent,
        has_elements=config.has_short_elements,
    )
    for kind in kinds:
        model = _MODELS[kind](np.random.default_rng((seed, kind)))
        example = Example(kind, compile_model(model, config))
        assert len(example.program.steps) == 1, f"{kind!r} is one list"
        assert kind in {job.kind for job in example.list.jobs}, f"{kind!r} is in its list"
        yield example


def smallest(config: Config) -> Example:
    """Return a list with a convolution of few bytes, for the boot image.

    Parameters
    ----------
    config : Config
        With an engine.
    """
    weights = _weights(np.random.default_rng(1), (16, 1, 1, 16))
    model = _built("CONV_2D", [_SMALL_SHAPE], _SMALL_SHAPE, [weights], **_STRIDES)
    return Example(JobKind.CONV, compile_model(model, config))


def _built(
    code: str,
    shapes: list[tuple[int, ...]],
    output: tuple[int, ...],
    constants: list[NDArray[np.int8] | NDArray[np.int32]],
    scale: float = _SCALE,
    zero_point: int = _ZERO_POINT,
    **options: Any,
) -> bytes:
    """Return a model of one operator; constants follow the inputs."""
    builder = ModelBuilder("self-test")
    inputs = [builder.tensor(shape, scale=_SCALE, zero_point=_ZERO_POINT) for shape in shapes]
    fixed = [
        builder.tensor(data.shape, np.int8, scale=_WEIGHT_SCALE, data=data)
        if data.dtype == np.int8
        else builder.tensor(data.shape, np.int32, data=data)
        for data in constants
    ]
    result = builder.tensor(output, scale=scale, zero_point=zero_point)
    builder.operator(code, [*inputs, *fixed], [result], **options)
    return builder.build(inputs=inputs, outputs=[result])


def _weights(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.int8]:
    return rng.integers(-127, 128, shape, np.int8)


def _convolution(rng: np.random.Generator) -> bytes:
    weights = _weights(rng, (24, 3, 3, 16))
    return _built("CONV_2D", [_SHAPE], (*_SHAPE[:3], 24), [weights], **_STRIDES)


def _depthwise(rng: np.random.Generator) -> bytes:
    weights = _weights(rng, (1, 3, 3, _SHAPE[3]))
    return _built("DEPTHWISE_CONV_2D", [_SHAPE], _SHAPE, [weights], **_DEPTHWISE)


def _beside(rng: np.random.Generator) -> bytes:
    """Return a depthwise convolution between others: the unit works beside the array's jobs."""
    builder = ModelBuilder("self-test")
    channels = _UNIT_SHAPE[3]

    def tensor(count: int) -> int:
        return builder.tensor((*_UNIT_SHAPE[:3], count), scale=_SCALE, zero_point=_ZERO_POINT)

    def weights(*shape: int) -> int:
        return builder.tensor(shape, scale=_WEIGHT_SCALE, data=_weights(rng, shape))

    image, wide, same, result = map(tensor, (channels, _UNIT_CHANNELS, _UNIT_CHANNELS, channels))
    into, out = weights(_UNIT_CHANNELS, 1, 1, channels), weights(channels, 1, 1, _UNIT_CHANNELS)
    builder.operator("CONV_2D", [image, into], [wide], **_STRIDES)
    builder.operator(
        "DEPTHWISE_CONV_2D", [wide, weights(1, 3, 3, _UNIT_CHANNELS)], [same], **_DEPTHWISE
    )
    builder.operator("CONV_2D", [same, out], [result], **_STRIDES)
    return builder.build(inputs=[image], outputs=[result])


def _pair(code: str) -> Callable[[np.random.Generator], bytes]:
    return lambda rng: _built(code, [_SHAPE, _SHAPE], _SHAPE, [])


def _table(rng: np.random.Generator) -> bytes:
    del rng
    return _built("LOGISTIC", [_SHAPE], _SHAPE, [], _PROBABILITY_SCALE, -128)


def _largest(rng: np.random.Generator) -> bytes:
    del rng
    sizes = {"strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2}
    return _built("MAX_POOL_2D", [_SHAPE], (1, 4, 4, 16), [], **sizes)


def _move(rng: np.random.Generator) -> bytes:
    del rng
    order = np.array([0, 3, 1, 2], np.int32)
    return _built("TRANSPOSE", [_SHAPE], (1, 16, 8, 8), [order])


def _softmax(rng: np.random.Generator) -> bytes:
    del rng
    return _built("SOFTMAX", [(32, 24)], (32, 24), [], _PROBABILITY_SCALE, -128, beta=1.0)


def _steps(rng: np.random.Generator) -> bytes:
    """Return an LSTM: jobs make the sums of its gates, and others its steps of them."""
    builder = ModelBuilder("self-test")
    _, times, inputs = _SEQUENCE

    def weights(columns: int) -> list[int]:
        shape = (_UNITS, columns)
        scale = _WEIGHT_SCALE
        return [builder.tensor(shape, scale=scale, data=_weights(rng, shape)) for _ in range(4)]

    def state(dtype: type[np.generic], scale: float) -> int:
        index = builder.tensor((1, _UNITS), dtype, scale=scale, zero_point=0)
        builder.tensors[index].is_variable = True
        return index

    source = builder.tensor(_SEQUENCE, scale=_SCALE, zero_point=_ZERO_POINT)
    inner, outer = weights(inputs), weights(_UNITS)
    zeros = np.zeros(_UNITS, np.int32)
    biases = [
        builder.tensor((_UNITS,), np.int32, scale=_SCALE * _WEIGHT_SCALE, data=zeros)
        for _ in range(4)
    ]
    hidden, cell = state(np.int8, _HIDDEN_SCALE), state(np.int16, _CELL_SCALE)
    result = builder.tensor((1, times, _UNITS), scale=_HIDDEN_SCALE, zero_point=0)
    absent = [-1] * 3
    builder.operator(
        "UNIDIRECTIONAL_SEQUENCE_LSTM",
        [
            *(source, *inner, *outer, *absent, *biases, -1, -1, hidden, cell),
            *(*absent, -1),
        ],
        [result],
        fusedActivationFunction=ACTIVATIONS["TANH"],
    )
    return builder.build(inputs=[source], outputs=[result])


def _short_pair(rng: np.random.Generator) -> bytes:
    """Return a SUB of int16."""
    del rng
    builder = ModelBuilder("self-test")
    first, second, output = (
        builder.tensor(_SHORT_SHAPE, np.int16, scale=scale) for scale in _SHORT_SCALES
    )
    builder.operator("SUB", [first, second], [output])
    return builder.build(inputs=[first, second], outputs=[output])


_MODELS: dict[JobKind, Callable[[np.random.Generator], bytes]] = {
    JobKind.CONV: _convolution,
    JobKind.DEPTHWISE: _depthwise,
    JobKind.ADD: _pair("ADD"),
    JobKind.TABLE: _table,
    JobKind.MAX: _largest,
    JobKind.MUL: _pair("MUL"),
    JobKind.MOVE: _move,
    JobKind.SOFTMAX: _softmax,
    JobKind.DEPTHWISE_UNIT: _beside,
    JobKind.RECURRENT: _steps,
    JobKind.SHORT_ELEMENTS: _short_pair,
}
