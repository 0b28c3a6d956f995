"""A recording behind the pins of the simulated system's microphone: every sample, every answer."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler import compile_model
from kiwicha.errors import UsageError
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from kiwicha.sim.soc.microphone_model import MICROPHONE_SAMPLES
from kiwicha.sim.verilator.microphone_run import MicrophoneRun, run_microphone
from kiwicha.sound.frontend import CHANNELS, FRAME_SAMPLES, frontend_model
from kiwicha.tflite_writer.builder import ModelBuilder

STEP_SAMPLES, HOP, FRAMES = 160, 2, 4
SILENCE = b"\x80" * CHANNELS
RING_SAMPLES = 512
"""In the test of an overrun: little more than a frame."""


def some_sound(seed: int, count: int) -> NDArray[np.int16]:
    return np.random.default_rng(seed).integers(-(1 << 15), 1 << 15, count).astype(np.int16)


def window_model() -> Program:
    """Give a model that sees three frames at once."""
    builder = ModelBuilder("window")
    x = builder.tensor((1, 3 * CHANNELS), scale=1 / 256, zero_point=-128)
    weights = np.random.default_rng(0).integers(-9, 10, (2, 3 * CHANNELS)).astype(np.int8)
    y = builder.tensor((1, 2), scale=1 / 8, zero_point=3)
    operands = [x, builder.tensor(weights.shape, data=weights, scale=0.01)]
    builder.operator("FULLY_CONNECTED", operands, [y])
    return compile_model(builder.build(inputs=[x], outputs=[y]), "simd")


def heard(samples: NDArray[np.int16], **options: int) -> MicrophoneRun:
    return run_microphone(
        compile_model(frontend_model(), "simd"),
        window_model(),
        samples,
        frames=FRAMES,
        step_samples=STEP_SAMPLES,
        hop=HOP,
        silence=SILENCE,
        **options,
    )


def check(run: MicrophoneRun, samples: NDArray[np.int16]) -> None:
    """Compare ring, features and answers with the recording and the reference executor."""
    written = np.arange(max(run.written - len(run.ring), 0), run.written)
    assert len(written)
    np.testing.assert_array_equal(run.ring[written % len(run.ring)], samples[written])
    hear, think = Session(compile_model(frontend_model(), "simd")), Session(window_model())
    newest, answers = [SILENCE] * 3, []
    for number, place in enumerate(run.places):
        frame = samples[place : place + FRAME_SAMPLES]
        newest = [*newest[1:], hear.run([frame.tobytes()])[0].tobytes()]
        assert run.features[number] == newest[-1]
        if (number + 1) % HOP == 0:
            answers.append(think.run([b"".join(newest)])[0].tobytes())
    assert list(run.answers) == answers
    assert len(set(answers)) > 1


@pytest.mark.nightly
@pytest.mark.verilator
def test_every_sample_of_a_recording_is_heard() -> None:
    samples = some_sound(1, 2000)
    run = heard(samples)
    assert run.places == tuple(STEP_SAMPLES * k for k in range(FRAMES))
    assert run.overruns == 0
    assert run.written >= STEP_SAMPLES * (FRAMES - 1) + FRAME_SAMPLES
    # What is behind the newest sample was never written.
    assert not run.ring[run.written :].any()
    # The rest of the time is for others: a frame takes a tenth of it.
    assert run.busy < 0.2
    check(run, samples)


@pytest.mark.nightly
@pytest.mark.verilator
def test_after_an_overrun_the_newest_samples_are_heard() -> None:
    samples = some_sound(2, 2000)
    run = heard(samples, ring_samples=RING_SAMPLES, begin=RING_SAMPLES + 200)
    assert run.overruns == 1
    # The first frame was gone; from the newest one on, all of them are there.
    first = run.places[0]
    assert first >= 200 + RING_SAMPLES - FRAME_SAMPLES
    assert run.places == tuple(first + STEP_SAMPLES * k for k in range(FRAMES))
    check(run, samples)


def test_a_recording_that_is_too_long_is_refused() -> None:
    text = (
        f"recording must have {MICROPHONE_SAMPLES} samples or fewer for the simulated microphone, "
        f"not {MICROPHONE_SAMPLES + 1}; cut it, or leave --microphone out"
    )
    with pytest.raises(UsageError, match=f"^{re.escape(text)}$"):
        heard(some_sound(3, MICROPHONE_SAMPLES + 1))
