"""Everything that a point is measured by counts for the name of a study."""

import subprocess
import sys
from pathlib import Path

from kiwicha.explore.sources import measure_sources

# They hold nothing that decides about a number.
NEUTRAL = {"__init__.py", "errors.py"}


def test_what_measures_a_point_counts() -> None:
    program = (
        "import sys, kiwicha.explore.points\n"
        "for name, module in sys.modules.items():\n"
        "    if name.partition('.')[0] == 'kiwicha': print(module.__file__)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {Path(line).resolve() for line in result.stdout.splitlines()}
    used = {path for path in loaded if path.name not in NEUTRAL}
    assert len(used) > 60
    assert used <= {path.resolve() for path in measure_sources()}
