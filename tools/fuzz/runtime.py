"""Spoilt Programs through the C runtime, under sanitizers."""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kiwicha.contract.configs import CONFIGS
from kiwicha.firmware.native import build_native

__all__ = ["FLIPS_PER_BYTE", "RuntimeResult", "spoil_programs"]

_MAIN = Path(__file__).parent / "runtime.c"
_CONFIG = CONFIGS["simd"]
_HANGS = 66
FLIPS_PER_BYTE = 9
"""As in the C file: each bit of a byte, and all of them."""


@dataclass(frozen=True)
class RuntimeResult:
    """What became of spoilt copies of a Program.

    Parameters
    ----------
    executions : int
        How many there were.
    opened : int
        How many were executed.
    crashes, hangs : int
        1 if the last one tripped a sanitizer, was written, or did not end.
    log : str
        What was printed then.
    """

    executions: int
    opened: int
    crashes: int = 0
    hangs: int = 0
    log: str = ""


def spoil_programs(raw: bytes, first: int, last: int, way: str = "random") -> RuntimeResult:
    """Open and execute spoilt copies of a Program, with a right checksum.

    Parameters
    ----------
    raw : bytes
        A Program of ``simd``.
    first, last : int
        Numbers of the copies, which say how they are spoilt; ``last`` is not among them.
    way : str
        ``flips``: each is another in one byte, in the order of bytes, nine of each byte.
        ``spread``: likewise, of bytes all over the Program. ``random``: in some words.
    """
    executable = build_native(_CONFIG, main=_MAIN, level=2)
    with tempfile.TemporaryDirectory(prefix="kiwicha-fuzz-") as name:
        path = Path(name) / "program.bin"
        path.write_bytes(raw)
        command = [str(executable), str(path), str(first), str(last), way]
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode == 0:
        opened, executions = map(int, done.stdout.split())
        return RuntimeResult(executions, opened)
    hangs = int(done.returncode == _HANGS)
    return RuntimeResult(0, 0, 1 - hangs, hangs, done.stderr)
