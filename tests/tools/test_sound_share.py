"""Shares of real time."""

import numpy as np
import pytest

from tools.sound_share import drawn_sound, share


def test_the_share_counts_all_frames_of_an_inference() -> None:
    # 3 frames of 10 ms at 100 MHz are 3,000,000 cycles.
    outcome = {"frames": 3, "step_samples": 160, "frame_cycles": 20000, "inference_cycles": 30000}
    assert share(outcome) == pytest.approx(0.03)


def test_sound_is_silent_first_and_then_cut_off() -> None:
    sound = drawn_sound()
    np.testing.assert_array_equal(sound, drawn_sound())
    assert not np.array_equal(sound, drawn_sound(1))
    assert not sound[:800].any()
    assert {int(sound.min()), int(sound.max())} == {-(2**15), 2**15 - 1}
