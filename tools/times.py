"""How long users wait: ``python -m tools.times --json F [NAME ...]``, on a quiet machine.

========  =======================================================================================
demo      ``kiwicha demo``, when everything is built
first     ``kiwicha demo``, when nothing is
trace     The first ``kiwicha run --trace``, where the configuration is built without waveforms
page      From a click on the page of ``kiwicha web person_detect`` to the answer, in Chromium
image     An image of person_detect in `kiwicha.Interpreter`, one core: of several the fastest
========  =======================================================================================
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kiwicha import Interpreter, tools
from kiwicha.compiler import compile_model
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.zoo import models as zoo
from tools.pictures import browser

__all__ = ["BARS", "MEASURES", "fingerprint", "main", "timed"]

_MODEL, _CONFIG = "person_detect", "64"
_INPUT_BYTES = 96 * 96
_PAGE_BYTES = 8_000_000
_IMAGES = 20
BARS: Mapping[str, float] = {"demo": 8, "first": 90, "trace": 60, "page": 5, "image": 0.012}
"""Seconds, at most."""


def timed(words: Sequence[str], folder: Path, **environment: str) -> dict[str, Any]:
    """Run a command, and return it with what it took.

    Parameters
    ----------
    words : sequence of str
        After ``kiwicha``.
    folder : Path
        Where it runs.
    **environment : str
        Added to that of this process.

    Raises
    ------
    subprocess.CalledProcessError
        If it fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run(
        [Path(sys.executable).with_name("kiwicha"), *words],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        check=True,
    )
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "command": " ".join(("kiwicha", *words)),
        "seconds": round(seconds, 1),
        "processor_seconds": round(spent, 1),
    }


def _demo(folder: Path) -> dict[str, Any]:
    timed(["demo"], folder)
    return timed(["demo"], folder)


def _first(folder: Path) -> dict[str, Any]:
    return timed(["demo"], folder, KIWICHA_CACHE=str(folder / "cache"))


def _trace(folder: Path) -> dict[str, Any]:
    (folder / "input.bin").write_bytes(bytes(_INPUT_BYTES))
    words = ["run", _MODEL, "--config", _CONFIG, "--input", "input.bin"]
    # Nothing that was built before counts.
    own = {"KIWICHA_CACHE": str(folder / "cache")}
    timed(words, folder, **own)
    return timed([*words, "--trace", "wave.fst"], folder, **own)


def _page(folder: Path) -> dict[str, Any]:
    words = ["web", _MODEL, "--config", _CONFIG, "-o", "page.html"]
    timed(words, folder)
    page, tensor = folder / "page.html", folder / "input.bin"
    tensor.write_bytes(bytes(_INPUT_BYTES))
    with browser() as started:
        tab = started.new_page()
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-loaded]", timeout=60_000)
        tab.set_input_files("input[type=file]", tensor)
        tab.wait_for_selector("#run:enabled")
        began = time.monotonic()
        tab.click("#run")
        tab.wait_for_selector("body[data-results]", timeout=120_000, state="attached")
        seconds = time.monotonic() - began
    return {
        "command": " ".join(("kiwicha", *words)),
        "seconds": round(seconds, 1),
        "bytes": page.stat().st_size,
        "bytes_bar": _PAGE_BYTES,
    }


def _image(_: Path) -> dict[str, Any]:
    interpreter = Interpreter(_MODEL)
    interpreter.allocate_tensors()
    seconds: list[float] = []
    while len(seconds) < _IMAGES:
        began = time.monotonic()
        interpreter.invoke()
        seconds.append(time.monotonic() - began)
    return {"command": f'Interpreter("{_MODEL}").invoke()', "seconds": round(min(seconds), 4)}


MEASURES: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "demo": _demo,
    "first": _first,
    "trace": _trace,
    "page": _page,
    "image": _image,
}
"""By their names, what measures in a folder."""


def fingerprint() -> dict[str, str]:
    """Return hashes of what the demo runs on."""
    return dict(run_fingerprint(compile_model(zoo.demo_model()[0], _CONFIG)))


def main(words: Sequence[str] | None = None) -> int:
    """Measure; return 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description="Measure how long users wait.")
    parser.add_argument("--json", type=Path, help="receives the times; keeps those of others")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASURES)}")
    chosen = parser.parse_args(words)
    unknown = sorted({*chosen.names} - MEASURES.keys())
    if unknown:
        parser.error(f"time must be one of {', '.join(MEASURES)}, not {unknown[0]}")
    has_missed = False
    for name in chosen.names or MEASURES:
        began, load = time.monotonic(), round(os.getloadavg()[0], 1)
        with tempfile.TemporaryDirectory() as folder:
            found = {**MEASURES[name](Path(folder)), "bar": BARS[name], "load": load}
        found["took"] = round(time.monotonic() - began)
        sys.stdout.write(f"{name}: {found['seconds']} s, wanted {BARS[name]:g} s at most\n")
        has_missed |= found["seconds"] > BARS[name]
        if chosen.json:
            _keep(chosen.json, name, found)
    return int(has_missed)


def _keep(path: Path, name: str, found: Mapping[str, Any]) -> None:
    """Write one time beside the others of a file."""
    kept = json.loads(path.read_text("utf-8"))["times"] if path.exists() else {}
    both = {**kept, name: found}
    outcome = {
        "times": {name: both[name] for name in MEASURES if name in both},
        "cores": tools.cores(),
        "seconds": sum(one["took"] for one in both.values()),
        "inputs": fingerprint(),
    }
    path.write_text(json.dumps(outcome, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
