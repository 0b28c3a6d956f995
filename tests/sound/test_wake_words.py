"""Manifests of wake words, and when probabilities are one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kiwicha.errors import UsageError
from kiwicha.sound.wake_words import Detector, Manifest, read_manifest

MICRO = {"probability_cutoff": 0.9, "sliding_window_size": 2, "feature_step_size": 10}
CONTENT = {"type": "micro", "wake_word": "Okay Nabu", "model": "nabu.tflite", "micro": MICRO}


def manifest(folder: Path, **changes: Any) -> Path:
    path = folder / "nabu.json"
    path.write_text(json.dumps({**CONTENT, **changes}))
    return path


def test_a_manifest_is_read(tmp_path: Path) -> None:
    wanted = Manifest("Okay Nabu", tmp_path / "nabu.tflite", 0.9, 2, 10)
    assert read_manifest(manifest(tmp_path)) == wanted


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"type": "other"}, 'manifest must have "type": "micro" and an object "micro"'),
        ({"micro": 3}, 'manifest must have "type": "micro" and an object "micro"'),
        ({"model": ""}, "manifest must name a file as model, not ''"),
        ({"micro": {}}, "probability_cutoff must be a number, not None"),
        ({"micro": {**MICRO, "probability_cutoff": 1}}, "must be 0 to less than 1, not 1"),
        (
            {"micro": {**MICRO, "sliding_window_size": 0}},
            "sliding_window_size must be a whole number, 1 to 1000, not 0",
        ),
        (
            {"micro": {**MICRO, "feature_step_size": 2.5}},
            "feature_step_size must be a whole number, 1 to 1000, not 2.5",
        ),
    ],
)
def test_other_manifests_are_refused(tmp_path: Path, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(UsageError, match=re.escape(text)):
        read_manifest(manifest(tmp_path, **changes))


def test_what_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("{")
    with pytest.raises(UsageError, match="manifest must be JSON"):
        read_manifest(path)


def test_the_mean_of_the_newest_counts_and_then_a_pause() -> None:
    detector = Detector(Manifest("word", cutoff=0.6, count=2), period_ms=500)
    heard = [detector.hear([value]) for value in (1.0, 0.2, 0.2, 1.0, 1.0, 1.0, 1.0)]
    # 0.6 is not above the cutoff; behind a wake word two probabilities are a second.
    assert heard == [None, None, None, None, (0, 1.0), None, None]
    assert detector.hear([0.9]) == (0, pytest.approx(0.95))


def test_of_several_words_the_likeliest_is_heard_and_then_none() -> None:
    detector = Detector(Manifest("word", cutoff=0.6, count=2), period_ms=500, words=3)
    assert detector.hear([1.0, 0.0, 0.9]) is None
    assert detector.hear([0.3, 0.0, 0.9]) == (2, pytest.approx(0.9))
    assert detector.hear([1.0, 0.0, 0.0]) is None
