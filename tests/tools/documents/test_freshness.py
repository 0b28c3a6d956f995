"""What pages say of results: whether they are of the present hardware, and how to renew them."""

from typing import Any

from tools.documents.freshness import freshness
from tools.results.result import Fingerprint, Kind, Result


def kind_of(folder: str) -> Kind:
    def recorded(contents: Any) -> Fingerprint:
        found: Fingerprint = contents
        return found

    return Kind(folder, lambda *_: "", recorded, recorded, lambda _: None)


PATHS = [f"docs/results/area/{name}.json" for name in ("a", "b", "c")]
RESULTS = [Result(kind_of("area"), path, {"all": {"hardware": "1", "tool": "2"}}) for path in PATHS]


def test_fresh_stale_and_unknown_results_are_told_apart() -> None:
    present = {
        "area/a": {"all": {"hardware": "1", "tool": "2"}},
        "area/b": {"all": {"hardware": "other", "tool": "2"}},
    }
    line = freshness(RESULTS, present)
    fresh, stale, unknown = (line([path]) for path in PATHS)
    for text, result in zip((fresh, stale, unknown), RESULTS, strict=True):
        assert f"`{result.name}` ({result.digest})" in text
    assert "--renew" not in fresh
    assert "hardware" in stale.split(":")[0]
    assert "tool" not in stale.split(":")[0]
    assert "--renew area/b" in stale
    assert "--renew area/c" in unknown
    assert len({text.split(":")[0] for text in (fresh, stale, unknown)}) == 3


def test_results_of_a_state_share_a_line() -> None:
    line = freshness(RESULTS, {})(PATHS)
    assert line.count("--renew") == 1
    assert "--renew area/a area/b area/c" in line
