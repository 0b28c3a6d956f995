"""What two engines would take."""

import dataclasses
from pathlib import Path

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineJob, JobKind
from tests.support.models.int4_layers import Int4Layer
from tools.two_engines import halved, predicted

MODEL = Int4Layer("CONV_2D", (1, 16, 16, 64), (64, 1, 1, 64), (1, 16, 16, 64)).model()


@pytest.mark.parametrize(
    ("kind", "field", "before", "after"),
    [
        (JobKind.CONV, "groups", 5, 3),
        (JobKind.CONV, "output_rows", 7, 4),
        (JobKind.TABLE, "segment_words", 9, 5),
    ],
)
def test_one_of_two_engines_does_half(kind: JobKind, field: str, before: int, after: int) -> None:
    ((job, *_),) = (found.jobs for found in compile_stages(MODEL, "64").lists)
    assert isinstance(job, EngineJob)
    given = dataclasses.replace(job, kind=kind, groups=1, weights_bytes=100 * before)
    given = dataclasses.replace(given, **{field: before})
    expected = {field: after, "weights_bytes": 100 * (after if field == "groups" else before)}
    assert halved(given) == dataclasses.replace(given, **expected)


def test_two_engines_take_more_than_half_and_less_than_one(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(MODEL)
    one, two = predicted(str(path), find_config("64"))
    assert one / 2 < two < one
