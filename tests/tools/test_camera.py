"""A model on the frames of the simulated camera."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.camera import camera_report, frames


def test_the_camera_shows_different_pictures() -> None:
    shown = frames()
    assert shown.shape == (4, 120, 160)
    assert len({frame.tobytes() for frame in shown}) == 4


@pytest.mark.nightly
@pytest.mark.verilator
def test_persons_on_every_frame(zoo_model: Callable[[str], Path]) -> None:
    model = str(zoo_model("person_detect"))
    found = camera_report(model, "64", count=12)
    assert found["wrong"] == 0
    # The frames differ in what the model says of them, and some are looked at in turn.
    assert found["different_outputs"] > 2
    numbers = found["first_numbers"]
    assert numbers == sorted(set(numbers))
    assert found["frames"] >= 12 + found["dropped"]
    # The camera is faster than the model: the rate is that of inferences.
    assert found["dropped"] > 0
    assert found["period"] <= 1.05 * 131_000
