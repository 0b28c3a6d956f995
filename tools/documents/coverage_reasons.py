"""Why lines and branches of the engine are not met by random lists."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

__all__ = ["REASONS", "explained"]

REASONS = (
    (
        r".*: if: if \(reset\)",
        "the engine's own reset is not asked for while lists run; tests of resets do it",
    ),
    (
        r"controller\.(unit|counters): .*",
        (
            "instructions that lists do not need, such as those that read counters and the "
            "scratchpad; tests of the unit for instructions execute them"
        ),
    ),
    (
        (
            r"controller\.job_fetcher\.check: if|controller\.sequencer: if"
            r"|controller\.transfer_fetcher: cond_then|controller\.ranges: if"
        ),
        "errors of descriptors; tests of the checks, of the sequencer and of ranges meet each",
    ),
    (
        r"controller\.float_converter: else: if \(moves\)",
        "a conversion did not have to wait for the scratchpad",
    ),
    (
        r"controller\.loader\.decompressor\.lanes\.lane_\d: case: 2'h3",
        "the prefix of a code has five bits at most, and is not shifted by six or seven",
    ),
    (
        r"controller\.loader\.decompressor: if",
        "streams of weights that end too early; the bench of the decompressor gives them",
    ),
    (
        r"datapath\.array\.cell_\d_0: case: 2'h1",
        "the first cell of a chain has none before it whose sum it could add",
    ),
    (
        r"datapath\.requantizer\.lane_\d: cond_then: .*left_s1\[4\]",
        "results scaled by 2**16 or more; the bench of the requantizer draws them",
    ),
    (
        r"datapath\.units\.moves\.addresses\.lines: else",
        "a MOVE writes all lines of a piece without a pause",
    ),
    (
        r"datapath\.units\.moves\.tiles: cond_then",
        "no number of a row is larger than that of the last bank",
    ),
    (
        r"controller\.(port|ranges|reader_1): .*",
        "orders of requests that these lists did not give; proofs hold for all of them",
    ),
)
"""Patterns of a module and a text, and the reason; the first that fits counts."""


def explained(holes: Mapping[str, int]) -> tuple[Counter[str], dict[str, int]]:
    """Return how many holes have each reason, and those that have none.

    Parameters
    ----------
    holes : mapping
        How many there are of each module and text.
    """
    found: Counter[str] = Counter()
    left = {}
    for hole, count in holes.items():
        reason = _reason(hole, REASONS)
        if reason is None:
            left[hole] = count
        else:
            found[reason] += count
    return found, left


def _reason(hole: str, reasons: Iterable[tuple[str, str]]) -> str | None:
    return next((reason for pattern, reason in reasons if re.match(pattern, hole)), None)
