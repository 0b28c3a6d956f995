"""Why lines of the firmware's C are not met by Programs on the host."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["REASONS", "explained_lines"]

REASONS = (
    (
        r"kernels/engine\.c|runtime/invoke\.c|runtime/open\.c:.*(engine_call|overlapped|step \+ k)",
        "what starts the engine and waits for it: the simulated system runs it",
    ),
    (
        r"kernels/.*: return KIWICHA_STATUS_BAD_ARGUMENT;",
        "a kernel is called without parameters, which the runtime never does",
    ),
    (
        r".*: return KIWICHA_STATUS_BAD_VALUE;",
        "numbers that are none at run time, such as a divisor of 0, which end an inference",
    ),
    (
        r"runtime/(open|tensors|status|suspend)\.|host/library",
        (
            "what applications ask for, and Programs that are damaged as a whole: tests of the "
            "runtime and of the library, and fuzzing"
        ),
    ),
    (
        r"host/(cfu_model|signal_model)",
        "instructions that no kernel uses, or that are none: tests of the model execute them",
    ),
    (
        r"host/main",
        "the program of the host itself: wrong arguments and files, and streams",
    ),
    (
        r"kernels/.*: return( check\.status)?;",
        "a check that ends early; the bad parameters here break others",
    ),
)
"""Patterns of a file and a text, and the reason; the first that fits counts."""


def explained_lines(
    holes: Sequence[Mapping[str, Any]],
) -> tuple[Counter[str], list[Mapping[str, Any]]]:
    """Return how many lines have each reason, and those that have none.

    Parameters
    ----------
    holes : sequence of mapping
        ``file``, ``line`` and ``text`` of each.
    """
    found: Counter[str] = Counter()
    left = []
    for hole in holes:
        key = f"{hole['file']}: {hole['text']}"
        reason = next((text for pattern, text in REASONS if re.match(pattern, key)), None)
        if reason is None:
            left.append(hole)
        else:
            found[reason] += 1
    return found, left
