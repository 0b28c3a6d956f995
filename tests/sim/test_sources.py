"""Everything that the hardware is generated from counts for the keys of what was generated."""

import subprocess
import sys
from pathlib import Path

from kiwicha.sim.sources import hardware_sources

# They hold nothing that gets into hardware.
NEUTRAL = {"__init__.py", "errors.py"}


def test_what_the_generator_loads_counts() -> None:
    program = (
        "import sys, kiwicha.sim.elaborate\n"
        "for name, module in sys.modules.items():\n"
        "    if name.partition('.')[0] == 'kiwicha': print(module.__file__)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {Path(line).resolve() for line in result.stdout.splitlines()}
    used = {path for path in loaded if path.name not in NEUTRAL}
    assert len(used) > 40
    assert used <= {path.resolve() for path in hardware_sources()}
