"""Signal operators against TensorFlow Lite Micro, inference by inference."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from kiwicha.sound.frontend import CHANNELS, frames, frontend_model
from tests.support.choices import by_day
from tests.support.models.signal_streams import STREAMS
from tests.support.models.signals import SIGNALS, Signals
from tests.support.oracle.sequences import ask_in_a_row

BLOCK = 10
"""Random models that one test asks the oracle about."""
SHORT_BLOCK = 4


def session(model: bytes, config: str) -> Session:
    return Session(Program.from_bytes(compile_model(model, config).to_bytes()))


@pytest.mark.parametrize("first", by_day(*range(0, 25 * BLOCK, BLOCK)))
@pytest.mark.parametrize("kind", SIGNALS)
def test_random_models(kind: str, first: int) -> None:
    made = [SIGNALS[kind](np.random.default_rng([first + k, len(kind)])) for k in range(BLOCK)]
    answers = ask_in_a_row([(item.model, item.inputs) for item in made])
    for number, (item, wanted) in enumerate(zip(made, answers, strict=True)):
        for config in ("baseline", "64", "64-signal"):
            kept = session(item.model, config)
            for inputs, answer in zip(item.inputs, wanted, strict=True):
                for a, b in zip(kept.run(inputs), answer, strict=True):
                    np.testing.assert_array_equal(a, b, f"{kind} {first + number} {config}")


@pytest.mark.parametrize("first", by_day(*range(0, 25 * SHORT_BLOCK, SHORT_BLOCK)))
@pytest.mark.parametrize("kind", STREAMS)
def test_random_streams(kind: str, first: int) -> None:
    seeds = ([first + k, len(kind)] for k in range(SHORT_BLOCK))
    made = [STREAMS[kind](np.random.default_rng(seed)) for seed in seeds]
    answers = ask_in_a_row([(item.model, item.inputs) for item in made])
    for number, (item, wanted) in enumerate(zip(made, answers, strict=True)):
        for config in ("baseline", "64"):
            kept = session(item.model, config)
            for inputs, answer in zip(item.inputs, wanted, strict=True):
                compare(item, kept.run(inputs), answer, f"{kind} {first + number} {config}")


def compare(item: Signals, found: list[Any], wanted: tuple[Any, ...], what: str) -> None:
    """Compare all outputs, but for frames that are missing: these are 0, and the flag is false."""
    for number, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        flag = item.flags.get(number)
        is_given = np.full(ours.shape[:-1], fill_value=True)
        if flag is not None and not wanted[flag]:
            is_given = ours.any(axis=-1)
            assert not is_given.all()
        np.testing.assert_array_equal(ours[is_given], theirs[is_given], what)


def test_streams_begin_anew() -> None:
    """A reset brings back what is kept at first."""
    for number, make in enumerate(STREAMS.values()):
        item = make(np.random.default_rng(number))
        kept = session(item.model, "64")
        first = [kept.run(inputs) for inputs in item.inputs]
        assert any(
            len({out.tobytes() for out in outputs}) > 1 for outputs in zip(*first, strict=True)
        )
        kept.reset()
        for inputs, wanted in zip(item.inputs, first, strict=True):
            for a, b in zip(kept.run(inputs), wanted, strict=True):
                np.testing.assert_array_equal(a, b)


def speech() -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    """Give sound that becomes louder, with silence and the loudest samples."""
    rng = np.random.default_rng(5)
    places = np.arange(8000)
    tone = np.sin(places**1.5 / 900) * np.exp(places / 900)
    sound = (tone + rng.normal(0, 3, places.size)).clip(-(2**15), 2**15 - 1)
    sound[:700] = 0
    return sound.astype(np.int16)


@pytest.mark.parametrize("config", ["baseline", "simd", "64", "64-signal"])
def test_the_frontend(config: str) -> None:
    model = frontend_model()
    inputs = [(frame,) for frame in frames(speech(), 160)]
    (answers,) = ask_in_a_row([(model, inputs)])
    kept = session(model, config)
    found = [kept.run(one)[0] for one in inputs]
    np.testing.assert_array_equal(found, [answer for (answer,) in answers])
    assert len(np.unique(found)) > 2 * CHANNELS


def test_the_frontend_is_that_of_micro_speech(
    zoo_model: Callable[[str], Path], golden_cases: Callable[[str], list[Any]]
) -> None:
    name = "audio_preprocessor_int8"
    theirs = zoo_model(name).read_bytes()
    inputs = [(frame,) for frame in frames(speech(), 160)]
    (answers,) = ask_in_a_row([(theirs, inputs)])
    for model in (theirs, frontend_model()):
        for config in ("simd", "64", "simd-signal"):
            kept = session(model, config)
            for case in golden_cases(name):
                kept.reset()
                assert kept.run([case.input])[0].tobytes() == case.output
            kept.reset()
            for one, (answer,) in zip(inputs, answers, strict=True):
                np.testing.assert_array_equal(kept.run(one)[0], answer)
