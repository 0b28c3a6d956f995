"""Coverage of the firmware's C: ``python -m tools.verification.c_coverage``.

Random steps of every kernel run in the firmware as a program of this machine, compiled by GCC with
counters; gcov reads them. The custom instructions are those of the model in C.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha import tools
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.program import Kernel
from kiwicha.errors import ToolError
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.native import run_native
from kiwicha.firmware.sources import FOLDER, RUNTIME_FOLDERS, runtime_sources
from tests.support.programs.cases import add_step
from tests.support.programs.every_kernel import FIRMWARE_KERNELS
from tests.support.programs.steps import ProgramBuilder
from tools.verification import record

__all__ = ["RECORD", "main"]

RECORD = "c_coverage"
_CONFIG = CONFIGS["simd"]
_HOST = FOLDER / "host"
_FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKIWICHA_HAS_CFU_MODEL", "-O0", "--coverage")
_HOLES = 200


def _build(folder: Path) -> Path:
    """Compile the firmware with counters."""
    gcc = shutil.which("gcc")
    if gcc is None or shutil.which("gcov") is None:
        raise ToolError("GCC and gcov must be installed to measure the coverage of C")
    (folder / HEADER_NAME).write_text(header(_CONFIG), encoding="utf-8")
    sources = runtime_sources(_CONFIG, _HOST)
    includes = (f"-I{include}" for include in (folder, *RUNTIME_FOLDERS, _HOST))
    command = [gcc, *_FLAGS, *includes, "-o", "native", *map(str, sources)]
    tools.run(command, name="GCC", folder=folder)
    return folder / "native"


def _run(executable: Path, kernel: Kernel, seed: int, steps: int) -> None:
    builder, rng = ProgramBuilder(_CONFIG.name), np.random.default_rng(seed)
    for number in range(steps):
        add_step(builder, kernel, rng, number)
    program = builder.program()
    result = run_native(
        executable, program.to_bytes(), builder.input_bytes, outputs=len(program.outputs)
    )
    if result.status is not Status.OK:
        raise ToolError(f"steps of {kernel.name} must run, not end with {result.status.name}")


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


def _summary(counts: dict[str, dict[int, tuple[int, list[int]]]]) -> list[dict[str, Any]]:
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
        for kernel in FIRMWARE_KERNELS:
            for seed in range(options.seeds):
                _run(executable, kernel, seed, options.steps)
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
            "config": _CONFIG.name,
            "kernels": len(FIRMWARE_KERNELS),
            "programs": options.seeds * len(FIRMWARE_KERNELS),
            "folders": _summary(counts),
            "holes": holes[:_HOLES],
            "more_holes": max(len(holes) - _HOLES, 0),
        },
    )
    record.say(f"{_summary(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
