"""Coverage of the firmware's C: ``python -m tools.verification.c_coverage``.

Programs run in the firmware as a program of this machine, compiled by GCC with counters; gcov reads
them. They are random steps of kernels, one step of every kernel, and models. The custom
instructions are those of the model in C.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiwicha import tools
from kiwicha.contract.cfu import Status
from kiwicha.errors import ToolError
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.native import run_native
from kiwicha.firmware.sources import FOLDER, RUNTIME_FOLDERS, runtime_sources
from kiwicha.program.image import Program
from tests.support.programs.every_kernel import FIRMWARE_KERNELS
from tools.verification import record
from tools.verification.c_programs import CONFIG, MODELS, c_programs

__all__ = ["RECORD", "main", "summary"]

RECORD = "c_coverage"
_HOST = FOLDER / "host"
_FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKIWICHA_HAS_CFU_MODEL", "-O0", "--coverage")
_HOLES = 200


def _build(folder: Path) -> Path:
    """Compile the firmware with counters."""
    gcc = shutil.which("gcc")
    if gcc is None or shutil.which("gcov") is None:
        raise ToolError("GCC and gcov must be installed to measure the coverage of C")
    (folder / HEADER_NAME).write_text(header(CONFIG), encoding="utf-8")
    sources = runtime_sources(CONFIG, _HOST)
    includes = (f"-I{include}" for include in (folder, *RUNTIME_FOLDERS, _HOST))
    command = [gcc, *_FLAGS, *includes, "-o", "native", *map(str, sources)]
    tools.run(command, name="GCC", folder=folder)
    return folder / "native"


def _run(executable: Path, program: Program, inputs: Sequence[bytes]) -> None:
    result = run_native(
        executable,
        program.to_bytes(),
        inputs,
        outputs=len(program.outputs),
        timeout_seconds=600,
    )
    if result.status is not Status.OK:
        names = ", ".join(sorted({step.kernel.name for step in program.steps}))
        raise ToolError(f"steps of {names} must run, not end with {result.status.name}")


def _counts(folder: Path) -> dict[str, dict[int, tuple[int, list[int]]]]:
    """Return for each source how often its lines ran, and the branches in them."""
    objects = sorted(folder.glob("*.gcda"))
    names = [str(path) for path in objects]
    command = ["gcov", "--json-format", "--branch-probabilities", *names]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    found: dict[str, dict[int, tuple[int, list[int]]]] = defaultdict(dict)
    for path in sorted(folder.glob("*.gcov.json.gz")):
        for file in json.loads(gzip.decompress(path.read_bytes()))["files"]:
            source = Path(file["file"])
            if FOLDER not in source.parents:
                continue
            lines = found[str(source.relative_to(FOLDER))]
            for line in file["lines"]:
                count, branches = lines.get(line["line_number"], (0, []))
                taken = [branch["count"] for branch in line["branches"]]
                if len(branches) == len(taken):
                    taken = [a + b for a, b in zip(taken, branches, strict=True)]
                lines[line["line_number"]] = (count + line["count"], taken)
    return found


def summary(counts: dict[str, dict[int, tuple[int, list[int]]]]) -> list[dict[str, Any]]:
    """Return how many lines and branches of each folder there are, and how many were met.

    Parameters
    ----------
    counts : dict
        For each source, and each of its lines that has code, how often it ran, and its branches.
    """
    rows: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for name, lines in counts.items():
        row = rows[name.partition("/")[0]]
        branches = [count for _, taken in lines.values() for count in taken]
        row["lines"] += len(lines)
        row["lines_met"] += sum(count > 0 for count, _ in lines.values())
        row["branches"] += len(branches)
        row["branches_met"] += sum(count > 0 for count in branches)
    return [{"folder": name, **row} for name, row in sorted(rows.items())]


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="Programs of each kernel")
    parser.add_argument("--steps", type=int, default=6, help="of each Program")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="kiwicha-gcov-") as name:
        executable = _build(Path(name))
        programs = 0
        for program, inputs in c_programs(seeds=options.seeds, steps=options.steps):
            _run(executable, program, inputs)
            programs += 1
        counts = _counts(Path(name))
    holes = [
        f"{source}:{line}"
        for source, lines in sorted(counts.items())
        for line, (count, _) in sorted(lines.items())
        if not count
    ]
    record.write(
        RECORD,
        {
            "command": record.command(),
            "config": CONFIG.name,
            "kernels": len(FIRMWARE_KERNELS),
            "programs": programs,
            "models": list(MODELS),
            "folders": summary(counts),
            "holes": holes[:_HOLES],
            "more_holes": max(len(holes) - _HOLES, 0),
        },
    )
    record.say(f"{summary(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
