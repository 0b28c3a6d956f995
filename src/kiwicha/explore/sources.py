"""What the result of a point is computed by: our sources."""

from pathlib import Path

import kiwicha
import kiwicha.boards

__all__ = ["measure_sources"]

_MODULES = (
    "activations.py",
    "codec.py",
    "codec_table.py",
    "configs.py",
    "custom.py",
    "custom_calls.py",
    "detection.py",
    "engine_list.py",
    "engine_packing.py",
    "floats.py",
    "goal.py",
    "isa.py",
    "isa_engine.py",
    "isa_program.py",
    "layout.py",
    "numerics.py",
    "packing.py",
    "program.py",
    "program_format.py",
)


def measure_sources() -> list[Path]:
    """Return the files of ours that decide about the measures of a point.

    A study is named by a hash of them: its points are comparable.
    """
    package = Path(kiwicha.__file__).parent
    return [
        *(package / name for name in _MODULES),
        *sorted((package / "compiler").rglob("*.py")),
        package / "explore" / "points.py",
        *(Path(kiwicha.boards.__file__).parent / name for name in ("capacity.py", "family.py")),
    ]
