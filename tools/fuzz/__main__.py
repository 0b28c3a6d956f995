"""Hostile input: ``python -m tools.fuzz`` spoils files and Programs for some time and counts.

Readers are fuzzed by Atheris, which keeps what reaches new code in a folder of the cache and goes
on from there. Programs with a right checksum go through the C runtime under sanitizers: every byte
of a small one is another once, bytes all over a large one, words at random. So does the loader of a
board, which gets what a host might send. Counts are added to those of
earlier runs in ``docs/results/verification/fuzz.json``; what crashes is kept in the cache.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from kiwicha import cache
from kiwicha.errors import SimulationError
from tools.fuzz.loader import LoaderResult, talk
from tools.fuzz.runtime import FLIPS_PER_BYTE, RuntimeResult, spoil_programs
from tools.fuzz.seeds import (
    every_kernel_program,
    network_program,
    seeds,
    small_program,
    zoo_program,
)
from tools.fuzz.system import flipped, run_hostile

__all__ = ["RECORDS", "main"]

RECORDS = Path("docs/results/verification/fuzz.json")
_READERS = {
    "tflite": "`.tflite` files, through the reader",
    "onnx": "`.onnx` files, through the reader",
    "program": "Programs, through the reader in Python",
    "answers": "what a board answers, through the host's code that runs a Program on it",
    "page": "files that pages of reports are made from",
}
_RUNTIME = {
    "flips": "a small Program with one byte changed, through the C runtime: each bit of every byte",
    "random": "a Program of every kernel with some words changed, through the C runtime",
    "ad": "the Program of `ad` with one byte changed, spread over it, through the C runtime",
    "person_detect": "likewise, the Program of `person_detect`",
}
_LOADER = {"serial": "the serial line to a board, through the loader's C code"}
_SYSTEM = {
    "system": "a Program of lists for `64` with one byte changed, spread over it, on the simulated "
    "system; then a good one",
}
_CHUNKS = {"ad": 2000, "person_detect": 200}
"""After so many counts are recorded; else after these."""
_CHUNK = 100_000
_DONE = re.compile(r"Done (\d+) runs")
_TOO_SLOW = "an answer must come within "


def _add(key: str, text: str, executions: int, crashes: int, hangs: int) -> None:
    """Add counts to those that are recorded."""
    rows = json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else []
    row = next((row for row in rows if row["key"] == key), None)
    if row is None:
        row = {"key": key, "input": text, "executions": 0, "crashes": 0, "hangs": 0}
        rows.append(row)
    row["executions"] += executions
    row["crashes"] += crashes
    row["hangs"] += hangs
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    RECORDS.write_text(f"{json.dumps(rows, indent=2)}\n", encoding="utf-8")


def _recorded(key: str) -> int:
    """Return how many executions are recorded."""
    rows = json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else []
    return next((int(row["executions"]) for row in rows if row["key"] == key), 0)


def _fuzz_reader(name: str, seconds: float) -> None:
    folder = cache.cache_dir() / "fuzz" / name
    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for number, raw in enumerate(seeds(name)):
        (folder / "corpus" / f"seed{number}").write_bytes(raw)
    command = [
        *(sys.executable, "-m", "tools.fuzz.readers", name, str(folder / "corpus")),
        *(f"-max_total_time={max(1, int(seconds))}", f"-artifact_prefix={folder}/"),
        *("-rss_limit_mb=4096", "-print_final_stats=0"),
    ]
    paths = [str(Path.cwd()), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    counts = [int(text) for text in re.findall(r"^#(\d+)", done.stderr, re.MULTILINE)]
    executions = [int(text) for text in _DONE.findall(done.stderr)] or counts[-1:] or [0]
    is_hang = _TOO_SLOW in done.stderr
    crashes = int(done.returncode != 0 and not is_hang)
    _add(name, _READERS[name], executions[0], crashes, int(is_hang))
    if done.returncode:
        sys.stdout.write(
            f"the fuzzer of {name} ended with {done.returncode}; what makes the reader fail is in "
            f"{folder}:\n{done.stderr[-3000:]}\n"
        )


def _fuzz_runtime(key: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    flips = key == "flips"
    if key in _CHUNKS:
        raw, way = zoo_program(key), "spread"
    else:
        raw, way = (small_program() if flips else every_kernel_program()), key
    most = len(raw) * FLIPS_PER_BYTE if flips else 1 << 31
    while time.monotonic() < deadline:
        first = _recorded(key)
        last = min(first + _CHUNKS.get(key, _CHUNK), most)
        if first >= last:
            return
        result = spoil_programs(raw, first, last, way)
        _add(key, _RUNTIME[key], result.executions, result.crashes, result.hangs)
        if result.crashes or result.hangs:
            _report(key, result)
            return


def _fuzz_loader(key: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        first = _recorded(key)
        result = talk(first, first + _CHUNK)
        _add(key, _LOADER[key], result.executions, result.crashes, result.hangs)
        if result.crashes or result.hangs:
            _report(key, result)
            return


def _fuzz_system(key: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    raw = network_program()
    while time.monotonic() < deadline:
        number = _recorded(key)
        hangs = 0
        outside: tuple[str, ...] = ()
        try:
            outside = run_hostile(raw, flipped(raw, number), number).outside
        except SimulationError as error:
            hangs = 1
            sys.stdout.write(f"{key} {number}: {error}\n")
        _add(key, _SYSTEM[key], 1, int(bool(outside)), hangs)
        if outside:
            sys.stdout.write(f"{key} {number}: {', '.join(outside)}\n")


def _report(key: str, result: RuntimeResult | LoaderResult) -> None:
    sys.stdout.write(f"{key} failed:\n{result.log[-3000:]}\n")


def main(arguments: list[str] | None = None) -> int:
    """Fuzz until time is up; return the exit code."""
    known = [*_READERS, *_RUNTIME, *_LOADER, *_SYSTEM]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", choices=[*known, []], help="what is given hostile input"
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="for all of them together")
    options = parser.parse_args(arguments)
    names = options.names or known
    seconds = 60 * options.minutes / len(names)
    kinds = (
        (_READERS, _fuzz_reader),
        (_RUNTIME, _fuzz_runtime),
        (_LOADER, _fuzz_loader),
        (_SYSTEM, _fuzz_system),
    )
    for name in names:
        for texts, fuzz in kinds:
            if name in texts:
                fuzz(name, seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
