"""Models with layers that keep tensors of their own between inferences."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS
from tests.support.models.streaming import Streaming
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["RECURRENT", "RecurrentModel", "both_ways", "lstm", "lstm_of_shorts", "svdf"]

_MISSING = -1


class RecurrentModel(ModelBuilder):
    """Collects tensors and operators.

    Parameters
    ----------
    rng : random.Random
        Of which the model's numbers come.
    """

    def __init__(self, rng: random.Random) -> None:
        super().__init__("recurrent")
        self._numbers = np.random.default_rng(rng.randrange(2**32))
        self.rng = rng

    def weights(self, shape: Sequence[int], scale: float, dtype: Any = np.int8) -> int:
        """Add random weights."""
        limit = int(np.iinfo(dtype).max)
        data = self._numbers.integers(-limit, limit + 1, shape).astype(dtype)
        return self.tensor(shape, dtype, data=data, scale=scale)

    def bias(self, count: int, scale: float, most: int, dtype: Any = np.int32) -> int:
        """Add random biases."""
        data = self._numbers.integers(-most, most + 1, count).astype(dtype)
        return self.tensor((count,), dtype, data=data, scale=scale)

    def state(self, shape: Sequence[int], dtype: Any, scale: float, zero_point: int = 0) -> int:
        """Add a tensor that is kept."""
        index = self.tensor(shape, dtype, scale=scale, zero_point=zero_point)
        self.tensors[index].is_variable = True
        return index

    def lstm(
        self,
        source: int,
        *,
        units: int,
        is_time_major: bool,
        kind: Any = np.int8,
        hidden: tuple[float, int] | None = None,
    ) -> int:
        """Add a UNIDIRECTIONAL_SEQUENCE_LSTM of int8 or int16, and return its output.

        Scale and zero point of its hidden state are random ones if they are not given.
        """
        rng = self.rng
        first, second, inputs = self.tensors[source].shape or ()
        scales = self.tensors[source].scales
        assert scales is not None
        batches = second if is_time_major else first
        hidden_scale, offset = rng.choice([1 / 128, 0.0078, 0.011]), rng.choice([0, 0, -3, 20])
        if kind is np.int16:
            hidden_scale, offset = rng.choice([2.0**-15, 3.1e-5, 2.7e-5, 2e-4]), 0
        hidden_scale, offset = hidden or (hidden_scale, offset)
        scale = rng.uniform(0.3, 2.0) / 127
        recurrent = rng.uniform(0.3, 2.0) / 127
        inner = [self.weights((units, inputs), scale * rng.uniform(0.5, 1)) for _ in range(4)]
        outer = [self.weights((units, units), recurrent * rng.uniform(0.5, 1)) for _ in range(4)]
        bias_scale = float(scales[0]) * scale
        bias_type = np.int64 if kind is np.int16 else np.int32
        biases = [self.bias(units, bias_scale, int(1 / bias_scale), bias_type) for _ in range(4)]
        kept = self.state((batches, units), kind, hidden_scale, offset)
        cell = self.state((batches, units), np.int16, 2.0 ** -rng.randint(9, 15))
        shape = (first, second, units)
        output = self.tensor(shape, kind, scale=hidden_scale, zero_point=offset)
        absent = [_MISSING] * 3
        self.operator(
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            [
                *(source, *inner, *outer, *absent, *biases, _MISSING, _MISSING, kept, cell),
                *(*absent, _MISSING),
            ],
            [output],
            fusedActivationFunction=ACTIVATIONS["TANH"],
            cellClip=rng.choice([0.0, 0.0, 10.0, 0.4]),
            timeMajor=is_time_major,
        )
        return output

    def reversed(self, source: int, axis: int, **fields: Any) -> int:
        """Add a REVERSE_V2 and return its output."""
        output = self.tensor(self.tensors[source].shape or (), **fields)
        axes = self.tensor((1,), np.int32, data=np.array([axis], np.int32))
        self.operator("REVERSE_V2", [source, axes], [output])
        return output

    def svdf(self, source: int, *, units: int, rank: int, steps: int, has_shorts: bool) -> int:
        """Add an SVDF and return its output."""
        rng = self.rng
        batches, inputs = self.tensors[source].shape or ()
        scales = self.tensors[source].scales
        assert scales is not None
        filters = units * rank
        kind: Any = np.int16 if has_shorts else np.int8
        feature_scale = rng.uniform(0.005, 0.02)
        spread = float(scales[0]) * feature_scale * 128 * 73 * inputs**0.5
        state_scale = rng.uniform(0.5, 4) * spread / np.iinfo(kind).max
        time_scale = rng.uniform(0.5, 1.5) / np.iinfo(kind).max
        features = self.weights((filters, inputs), feature_scale)
        time = self.weights((filters, steps), time_scale, kind)
        bias = self.bias(units, state_scale * time_scale, int(np.iinfo(kind).max) * 100)
        offset = 0 if has_shorts else rng.choice([0, -50, 25, 127, -128])
        state = self.state((batches, filters * steps), kind, state_scale, offset)
        output_scale = rng.uniform(0.5, 2) * spread * steps**0.5 * rank**0.5 / 128
        output = self.tensor(
            (batches, units), scale=output_scale, zero_point=rng.choice([-128, 0, 11])
        )
        self.operator(
            "SVDF",
            [source, features, time, bias, state],
            [output],
            rank=rank,
            fusedActivationFunction=ACTIVATIONS["RELU"],
        )
        return output


def lstm(rng: random.Random, kind: Any = np.int8) -> Streaming:
    """Return a model of one or two LSTMs one after the other, of int8 or int16."""
    model = RecurrentModel(rng)
    shape = (rng.choice([1, 1, 2, 3]), rng.randint(1, 6), rng.choice([4, 8, 7, 28, 1]))
    scale, zero_point = rng.uniform(0.005, 0.03), rng.randint(-128, 127)
    if kind is np.int16:
        scale, zero_point = scale / 256, 0
    x = source = model.tensor(shape, kind, scale=scale, zero_point=zero_point)
    is_time_major = rng.random() < 0.4
    for _ in range(rng.randint(1, 2)):
        units = rng.choice([4, 8, 5, 20, 1])
        x = model.lstm(x, units=units, is_time_major=is_time_major, kind=kind)
    return Streaming(model.build([source], [x]), shape, kind)


def lstm_of_shorts(rng: random.Random) -> Streaming:
    """Return the same of int16, weights of int8."""
    return lstm(rng, np.int16)


def both_ways(rng: random.Random) -> Streaming:
    """Return an LSTM of both ways of a sequence as converters write it: two of them, joined."""
    model = RecurrentModel(rng)
    kind = rng.choice([np.int8, np.int16])
    batches, steps, inputs = rng.choice([1, 1, 2]), rng.randint(2, 7), rng.choice([4, 8, 7])
    is_time_major = rng.random() < 0.3
    axis = 0 if is_time_major else 1
    shape = (steps, batches, inputs) if is_time_major else (batches, steps, inputs)
    is_short = kind is np.int16
    given: dict[str, Any] = {"scale": 0.0001 if is_short else 0.02, "dtype": kind}
    scale, offset = (2.0**-15, 0) if is_short else (1 / 128, rng.choice([0, 0, -3]))
    found: dict[str, Any] = {"scale": scale, "zero_point": offset, "dtype": kind}
    source, units = model.tensor(shape, **given), rng.choice([4, 5, 8])

    def sequence(x: int) -> int:
        return model.lstm(
            x, units=units, is_time_major=is_time_major, kind=kind, hidden=(scale, offset)
        )

    forth = sequence(source)
    back = model.reversed(sequence(model.reversed(source, axis, **given)), axis, **found)
    joined = model.tensor((*shape[:2], 2 * units), **found)
    model.operator("CONCATENATION", [forth, back], [joined], axis=2)
    return Streaming(model.build([source], [joined]), shape, kind)


def svdf(rng: random.Random, *, has_shorts: bool = False) -> Streaming:
    """Return a model of one or two SVDFs one after the other."""
    model = RecurrentModel(rng)
    shape = (rng.choice([1, 1, 2, 3]), rng.choice([4, 8, 7, 40, 1]))
    x = source = model.tensor(
        shape, scale=rng.uniform(0.005, 0.1), zero_point=rng.randint(-128, 127)
    )
    for _ in range(rng.randint(1, 2)):
        x = model.svdf(
            x,
            units=rng.choice([4, 16, 5, 1]),
            rank=rng.choice([1, 1, 2, 3]),
            steps=rng.choice([1, 2, 8, 5]),
            has_shorts=has_shorts,
        )
    return Streaming(model.build([source], [x]), shape)


def svdf_of_shorts(rng: random.Random) -> Streaming:
    """Return a model of SVDFs whose states are int16."""
    return svdf(rng, has_shorts=True)


RECURRENT: dict[str, Callable[[random.Random], Streaming]] = {
    "lstm": lstm,
    "lstm of shorts": lstm_of_shorts,
    "both ways": both_ways,
    "svdf": svdf,
    "svdf of shorts": svdf_of_shorts,
}
"""Random models by kind."""
