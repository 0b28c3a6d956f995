"""Frames of lines that go on: calls one after the other give what one long line has."""

import numpy as np
import pytest

from kiwicha.numerics.framing import Framing, Line, framed, overlap_added


def shorts(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.integers(-(2**15), 2**15, shape).astype(np.int16)


@pytest.mark.parametrize("period", [1, 2, 3])
@pytest.mark.parametrize("kept", [3, 5])
def test_frames_of_a_long_line(kept: int, period: int) -> None:
    how = Framing(frames=2, step=4, size=7, period=period)
    whole = shorts((2, kept + 5 * 8))
    line = Line(whole[:, :kept], 0, is_new=True)
    for call in range(5):
        first = kept + 8 * call
        frames, line, is_valid = framed(whole[:, first : first + 8], line, how)
        assert frames.dtype == np.int16
        assert frames.shape == (2, 2, 7)
        given = [(2 * call + k) % period == 0 for k in range(2)]
        assert is_valid is all(given)
        for k, is_given in enumerate(given):
            start = 8 * call + 4 * k
            expected = whole[:, start : start + 7] if is_given else np.zeros((2, 7))
            np.testing.assert_array_equal(frames[:, k], expected)
        np.testing.assert_array_equal(line.kept, whole[:, first + 8 - kept : first + 8])
        assert not line.is_new


def test_frames_are_missing_at_first() -> None:
    how = Framing(frames=3, step=2, size=2)
    samples = shorts((1, 6))
    frames, line, is_valid = framed(samples, Line(np.zeros((1, 0), np.int16), 2, True), how)
    assert (is_valid, line.missing) == (False, 0)
    assert not frames[:, :2].any()
    np.testing.assert_array_equal(frames[:, 2], samples[:, 4:])


def test_the_first_frame_stands_in_front_of_itself() -> None:
    how = Framing(frames=1, step=3, size=9, copies=2)
    kept, samples = shorts((2, 8), 1), shorts((2, 3), 2)
    before = kept.copy()
    frames, line, _ = framed(samples, Line(kept, 0, is_new=True), how)
    # The oldest two are as they were; two copies follow, and the samples themselves.
    expected = np.concatenate([kept[:, :2], samples, samples, samples], axis=1)
    np.testing.assert_array_equal(frames[:, 0], expected[:, :9])
    np.testing.assert_array_equal(line.kept, expected[:, 3:])
    np.testing.assert_array_equal(kept, before)
    following = shorts((2, 3), 3)
    frames, _, _ = framed(following, line, how)
    expected = np.concatenate([line.kept, following], axis=1)
    np.testing.assert_array_equal(frames[:, 0], expected[:, :9])


@pytest.mark.parametrize("step", [1, 2, 5])
def test_frames_that_overlap_are_added(step: int) -> None:
    frames = shorts((2, 6, 5)) // 8
    line = np.zeros((2, 6 * step + 5 - step), np.int64)
    for k in range(6):
        line[:, k * step : k * step + 5] += frames[:, k]
    sums = np.zeros((2, 5 - step), np.int16)
    first, sums = overlap_added(frames[:, :2], sums, step)
    second, sums = overlap_added(frames[:, 2:], sums, step)
    found = np.concatenate([first, second, sums], axis=1)
    assert found.dtype == np.int16
    np.testing.assert_array_equal(found, line)


def test_every_sum_saturates() -> None:
    frames = np.array([[[30000, -30000, 5], [30000, -30000, 7]]], np.int16)
    line, sums = overlap_added(frames, np.array([[10000, -10000]], np.int16), 1)
    # Saturated before the next frame is added, not after the last.
    np.testing.assert_array_equal(line, [[2**15 - 1, 30000 - 2**15]])
    np.testing.assert_array_equal(sums, [[5 - 30000, 7]])
    line, sums = overlap_added(np.array([[[0, -9, 1]]], np.int16), -np.array([[1, 32760]]), 1)
    assert (line.tolist(), sums.tolist()) == ([[-1]], [[-(2**15), 1]])
