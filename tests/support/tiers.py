"""Tiers of tests: a test that needs a simulator or synthesis is marked with it."""

from collections.abc import Callable, Collection
from typing import Any

import pytest

from kiwicha import cache

__all__ = ["guard_builds"]

_BUILDS = {
    "verilator": {
        "bench_runtimes",
        "benches",
        "bring_up_simulator",
        "engines",
        "simulator",
        "web_module",
    },
    "synth": {"bitstream", "synthesis"},
}
"""Markers, and the kinds of cache entries that take one of their tools to build."""


def guard_builds(monkeypatch: pytest.MonkeyPatch, marks: Callable[[], Collection[str]]) -> None:
    """Fail a test that asks the cache for what its markers do not tell.

    `make quick` leaves tests out by their markers: one without would build a simulator there.

    Parameters
    ----------
    monkeypatch : MonkeyPatch
        Replaces `cache.build`.
    marks : callable
        Gives the markers of the running test.
    """
    build = cache.build

    def guarded(kind: str, *arguments: Any, **options: Any) -> Any:
        for mark, kinds in _BUILDS.items():
            if kind in kinds and mark not in marks():
                pytest.fail(f"a test that needs {kind}/ of the cache must be marked {mark}")
        return build(kind, *arguments, **options)

    monkeypatch.setattr(cache, "build", guarded)
