"""Runs two models beside each other on the simulated system: ``python -m tools.beside``.

Person detection all the time, and a wake word whenever a timer asks for it: ``firmware/demo``. The
outputs of every inference are compared with what the reference executor gives.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.beside.report import beside_report

__all__ = ["main"]


def main(words: Sequence[str] | None = None) -> int:
    """Measure; return 1 if an output is wrong or an urgent model waits too long."""
    parser = argparse.ArgumentParser(prog="python -m tools.beside", description=__doc__)
    parser.add_argument("--slow", default="person_detect", help="model that runs all the time")
    parser.add_argument("--urgent", default="kws", help="model that the timer asks for")
    parser.add_argument("--config", default="64-preempt", help="one that is preemptible")
    parser.add_argument("--count", type=int, default=1000, help="urgent inferences")
    parser.add_argument("--seed", type=int, default=1, help="of inputs and requests")
    parser.add_argument("--json", type=Path, help="receives what is printed otherwise")
    chosen = parser.parse_args(words)
    report = beside_report(
        chosen.slow, chosen.urgent, chosen.config, count=chosen.count, seed=chosen.seed
    )
    text = f"{json.dumps(report, indent=2)}\n"
    if chosen.json is None:
        sys.stdout.write(text)
    else:
        chosen.json.write_text(text, encoding="utf-8")
    is_late = max(report["longest_wait"].values()) > report["bound"]
    return int(is_late or any(report["wrong"].values()))


if __name__ == "__main__":
    sys.exit(main())
