"""What models hear: frames, windows, and words among their outputs."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.program.image import Program
from kiwicha.sound.frontend import CHANNELS
from kiwicha.sound.listening import Hearing, Listener, Windows, hearing_of
from kiwicha.sound.wake_words import Manifest
from kiwicha.tflite_writer.builder import ModelBuilder
from kiwicha.zoo import models as zoo

LABELS = ("silence", "unknown", "left", "right")
SCALE: dict[str, Any] = {"scale": 1 / 256, "zero_point": -128}
MANIFEST = Manifest("word", cutoff=0.5, count=1, step_ms=20)


def program(outputs: int) -> Program:
    """Give a model that sees three frames at once."""
    builder = ModelBuilder("window")
    x = builder.tensor((1, 3 * CHANNELS), **SCALE)
    weights = np.ones((outputs, 3 * CHANNELS), np.int8)
    y = builder.tensor((1, outputs), **SCALE)
    operands = [x, builder.tensor(weights.shape, data=weights, scale=0.01)]
    builder.operator("FULLY_CONNECTED", operands, [y])
    return compile_model(builder.build(inputs=[x], outputs=[y]), "simd")


def test_a_window_moves_on_by_a_tenth_of_a_second() -> None:
    hearing = hearing_of(program(4), "m", LABELS, MANIFEST)
    assert hearing == Hearing(3, 5, ((2, "left"), (3, "right")))
    windows = Windows(hearing)
    given = [windows.add(bytes([k]) * CHANNELS) for k in range(7)]
    assert given == [None] * 4 + [b"".join(bytes([k]) * CHANNELS for k in (2, 3, 4))] + [None] * 2


def test_before_the_first_frame_is_silence() -> None:
    windows = Windows(Hearing(2, 1, ()))
    assert windows.add(bytes(CHANNELS)) == b"\x80" * CHANNELS + bytes(CHANNELS)


def test_the_word_that_is_said_is_heard() -> None:
    four = program(4)
    listener = Listener(four, hearing_of(four, "m", LABELS, MANIFEST), MANIFEST)
    assert listener.hear(bytes([127, 127, 128, 128])) is None
    heard = listener.hear(bytes([128, 128, 20, 127]))
    assert heard is not None
    assert (heard.word, heard.mean) == ("right", 1.0)
    # Ten frames of 20 ms, of which the last one ends 30 ms after it has begun.
    assert heard.seconds == pytest.approx(9 * 0.02 + 0.03)


def test_what_is_no_sound_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^output of m must be 4 probabilities, not "):
        hearing_of(program(3), "m", LABELS, MANIFEST)
    demo = compile_model(zoo.demo_model()[0], "simd")
    with pytest.raises(UsageError, match=r"^input of m must be int8 frames of 40 features, not "):
        hearing_of(demo, "m", (), MANIFEST)
