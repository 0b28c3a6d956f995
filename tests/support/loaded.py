"""Our files that a module needs."""

import subprocess
import sys
from pathlib import Path

__all__ = ["loaded_files"]

_NEUTRAL = {"__init__.py", "errors.py"}
"""They hold nothing that decides about a result."""
_PROGRAM = """
import importlib, sys
importlib.import_module(sys.argv[1])
for name, module in sys.modules.items():
    if name.partition(".")[0] == "kiwicha":
        print(module.__file__)
"""


def loaded_files(module: str) -> set[Path]:
    """Return the files of this package that importing one of its modules loads."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, module], capture_output=True, text=True, check=True
    )
    paths = {Path(line).resolve() for line in done.stdout.splitlines()}
    return {path for path in paths if path.name not in _NEUTRAL}
