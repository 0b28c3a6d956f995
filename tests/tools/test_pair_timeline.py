"""The picture of a depthwise layer beside those around it."""

from itertools import pairwise

from kiwicha.gallery import catalogue
from tools.pair_timeline import MODEL, pair_rows


def test_rows_of_both_units() -> None:
    rows = pair_rows(catalogue.find(MODEL).content())
    tracks = {
        track: [row for row in rows if row["track"] == track]
        for track in ("array", "depthwise unit")
    }
    before, unit, consumer = (
        [row for row in rows if row["name"] == name]
        for name in dict.fromkeys(row["name"] for row in rows)
    )
    assert before + consumer == tracks["array"]
    assert unit == tracks["depthwise unit"]
    for track in tracks.values():
        for row, following in pairwise(track):
            assert row["start"] <= row["end"] <= following["end"]
            assert row["colour"] != following["colour"]
    # It begins before the one that it follows ends, and so does the one that follows it.
    assert before[0]["start"] < unit[0]["end"] < before[-1]["end"] < unit[-1]["end"]
    assert consumer[0]["start"] < unit[-1]["end"] < consumer[-1]["end"]
