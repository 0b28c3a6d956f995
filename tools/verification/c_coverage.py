"""Coverage of the firmware's C: ``python -m tools.verification.c_coverage``.

Programs run in the firmware as a program of this machine, compiled by GCC with counters; gcov reads
them. They are random steps of kernels, one step of every kernel, and models; and Programs with bad
parameters, which are refused. The custom instructions are those of the model in C.
"""

import argparse
import dataclasses
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from kiwicha import tools
from kiwicha.contract.cfu import Status
from kiwicha.contract.configs import Config
from kiwicha.errors import ToolError
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.native import run_native
from kiwicha.firmware.sources import FOLDER, RUNTIME_FOLDERS
from tests.support.programs.broken_parameters import broken_programs
from tests.support.programs.every_kernel import FIRMWARE_KERNELS
from tools.verification import record
from tools.verification.c_programs import (
    CONFIG,
    CONFIGS,
    HOST,
    MODELS,
    c_programs,
    host_sources,
    register_operators,
)

__all__ = ["RECORD", "main", "summary"]

RECORD = "c_coverage"
_FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-DKIWICHA_HAS_CFU_MODEL", "-O0", "--coverage")
Lines = dict[int, tuple[int, list[int]]]
"""Of a file, by number: how often a line ran, and how often each of its branches was taken."""


def _build(config: Config, folder: Path) -> Path:
    """Compile the firmware with counters."""
    gcc = shutil.which("gcc")
    if gcc is None or shutil.which("gcov") is None:
        raise ToolError("GCC and gcov must be installed to measure the coverage of C")
    folder.mkdir()
    (folder / HEADER_NAME).write_text(header(config), encoding="utf-8")
    includes = (f"-I{include}" for include in (folder, *RUNTIME_FOLDERS, HOST))
    sources = map(str, host_sources(config))
    command = [gcc, *_FLAGS, *includes, "-o", "native", *sources, "-lm"]
    tools.run(command, name="GCC", folder=folder)
    return folder / "native"


def _run(folder: Path, *, seeds: int, steps: int) -> tuple[int, int]:
    """Run Programs; return how many were good, and how many bad."""
    executables = {config.name: _build(config, folder / config.name) for config in CONFIGS}
    good = bad = 0
    for item in c_programs(seeds=seeds, steps=steps):
        program = item.program
        result = run_native(
            executables[program.config.name],
            program.to_bytes(),
            item.inputs,
            outputs=len(item.sets) * len(program.outputs),
            timeout_seconds=600,
        )
        if result.status is not Status.OK:
            names = ", ".join(sorted({step.kernel.name for step in program.steps}))
            raise ToolError(f"steps of {names} must run, not end with {result.status.name}")
        good += 1
    for broken in broken_programs():
        raw = dataclasses.replace(broken.program, inputs=(), outputs=()).to_bytes()
        status = run_native(executables[CONFIG.name], raw, outputs=0).status
        if status not in {broken.status, broken.other}:
            raise ToolError(f"{broken.name} must end with {broken.status}, not {status}")
        bad += 1
    return good, bad


def _counts(folder: Path, found: dict[str, Lines]) -> None:
    """Add for each source how often its lines ran, and the branches in them."""
    objects = sorted(folder.glob("*.gcda"))
    names = [str(path) for path in objects]
    command = ["gcov", "--json-format", "--branch-probabilities", *names]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
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


def summary(counts: dict[str, Lines]) -> list[dict[str, Any]]:
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


def _text(name: str, line: int) -> str:
    """Return a line of a file of the firmware."""
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return lines[line - 1].strip()


def main(arguments: list[str] | None = None) -> int:
    """Measure coverage; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="Programs of each kernel")
    parser.add_argument("--steps", type=int, default=6, help="of each Program")
    options = parser.parse_args(arguments)
    register_operators()
    counts: dict[str, Lines] = defaultdict(dict)
    with tempfile.TemporaryDirectory(prefix="kiwicha-gcov-") as name:
        good, bad = _run(Path(name), seeds=options.seeds, steps=options.steps)
        for config in CONFIGS:
            _counts(Path(name) / config.name, counts)
    holes = [
        {"file": name, "line": line, "text": _text(name, line)}
        for name, lines in sorted(counts.items())
        for line, (count, _) in sorted(lines.items())
        if not count
    ]
    record.write(
        RECORD,
        {
            "command": record.command(),
            "configs": [config.name for config in CONFIGS],
            "kernels": len(FIRMWARE_KERNELS),
            "programs": good,
            "refused": bad,
            "models": list(MODELS),
            "folders": summary(counts),
            "holes": holes,
        },
    )
    record.say(f"{summary(counts)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
