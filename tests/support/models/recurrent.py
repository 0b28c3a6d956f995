"""Models with layers that keep tensors of their own between inferences."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kiwicha.tflite_writer.builder import ACTIVATIONS
from tests.support.models.streaming import Streaming
from tests.support.models.tflite_builder import ModelBuilder

__all__ = ["RECURRENT", "RecurrentModel", "lstm", "lstm_of_shorts", "svdf"]

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

    def lstm(self, source: int, *, units: int, is_time_major: bool, kind: Any = np.int8) -> int:
        """Add a UNIDIRECTIONAL_SEQUENCE_LSTM of int8 or int16, and return its output."""
        rng = self.rng
        first, second, inputs = self.tensors[source].shape or ()
        scales = self.tensors[source].scales
        assert scales is not None
        batches = second if is_time_major else first
        hidden_scale, offset = rng.choice([1 / 128, 0.0078, 0.011]), rng.choice([0, 0, -3, 20])
        if kind is np.int16:
            hidden_scale, offset = rng.choice([2.0**-15, 3.1e-5, 2.7e-5, 2e-4]), 0
        scale = rng.uniform(0.3, 2.0) / 127
        recurrent = rng.uniform(0.3, 2.0) / 127
        inner = [self.weights((units, inputs), scale * rng.uniform(0.5, 1)) for _ in range(4)]
        outer = [self.weights((units, units), recurrent * rng.uniform(0.5, 1)) for _ in range(4)]
        bias_scale = float(scales[0]) * scale
        bias_type = np.int64 if kind is np.int16 else np.int32
        biases = [self.bias(units, bias_scale, int(1 / bias_scale), bias_type) for _ in range(4)]
        hidden = self.state((batches, units), kind, hidden_scale, offset)
        cell = self.state((batches, units), np.int16, 2.0 ** -rng.randint(9, 15))
        shape = (first, second, units)
        output = self.tensor(shape, kind, scale=hidden_scale, zero_point=offset)
        absent = [_MISSING] * 3
        self.operator(
            "UNIDIRECTIONAL_SEQUENCE_LSTM",
            [
                *(source, *inner, *outer, *absent, *biases, _MISSING, _MISSING, hidden, cell),
                *(*absent, _MISSING),
            ],
            [output],
            fusedActivationFunction=ACTIVATIONS["TANH"],
            cellClip=rng.choice([0.0, 0.0, 10.0, 0.4]),
            timeMajor=is_time_major,
        )
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
    "svdf": svdf,
    "svdf of shorts": svdf_of_shorts,
}
"""Random models by kind."""
