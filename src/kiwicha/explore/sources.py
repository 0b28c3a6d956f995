"""What the result of a point is computed by: our sources."""

from pathlib import Path

import kiwicha
import kiwicha.boards

__all__ = ["measure_sources"]

_PACKAGES = ("compiler", "contract", "custom", "detection", "kernels", "numerics", "program")


def measure_sources() -> list[Path]:
    """Return the files of ours that decide about the measures of a point.

    A study is named by a hash of them: its points are comparable.
    """
    package = Path(kiwicha.__file__).parent
    return [
        *(path for name in _PACKAGES for path in sorted((package / name).rglob("*.py"))),
        package / "explore" / "points.py",
        *(
            Path(kiwicha.boards.__file__).parent / name
            for name in ("capacity.py", "family.py", "memories.py")
        ),
    ]
