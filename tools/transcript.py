"""Runs an application in C++ on the simulated board: ``python -m tools.transcript``.

LiteX's own terminal loads it over the serial line, which is a pseudo-terminal here; what the
terminal shows is the result.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kiwicha import cache
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.firmware.elf import read_elf
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.simulator import Simulator, build_simulator
from tests.support import library_builds
from tests.support.boards.litex_terminal import LateLine, said_by_terminal
from tests.support.boards.simulated_board import board_header, simulated_board
from tests.support.models import random_networks

__all__ = ["application", "fingerprint", "main", "shown_lines", "transcript"]

_SOURCE = Path(__file__).parents[1] / "tests" / "library" / "application.cpp"
_LAST = b"unknown\n"
"""What the application prints last."""
_PROGRESS = ("%", "KB/s", "calibration", "--============")
_ACKNOWLEDGED = re.compile(r"^KK+")


def _models() -> dict[str, bytes]:
    return {
        "first": random_networks.engine_network(5).model,
        "second": random_networks.network(0).model,
    }


def application(simulator: Simulator, config: str, folder: Path) -> bytes:
    """Return the image of the application for a board, at `cfu.IMAGE_ADDRESS`.

    Parameters
    ----------
    simulator : Simulator
        The board's system.
    config : str
        Its configuration.
    folder : Path
        Empty; receives library and objects.
    """
    models = _models()
    root = library_builds.write_library(
        folder, config, second=models["second"], first=models["first"]
    )
    made = library_builds.riscv_application(
        root, config, str(_SOURCE), header=board_header(simulator)
    )
    return read_elf(made.read_bytes()).image(cfu.IMAGE_ADDRESS)


def shown_lines(text: str) -> list[str]:
    """Return the lines of a terminal's text, without what is another in each run.

    That is progress, and the letters by which the loader has acknowledged frames.
    """
    lines = (_ACKNOWLEDGED.sub("", line.rstrip()) for line in text.replace("\r", "\n").splitlines())
    return [line for line in lines if line and not any(word in line for word in _PROGRESS)]


def transcript(config: str) -> dict[str, Any]:
    """Return what the terminal shows, as JSON has it.

    Parameters
    ----------
    config : str
        Of the board.
    """
    begin = time.monotonic()
    hardware = find_config(config)
    simulator = build_simulator(hardware)
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        folder = Path(name)
        (folder / "board").mkdir()
        (folder / "library").mkdir()
        image = folder / "application.bin"
        image.write_bytes(application(simulator, config, folder / "library"))
        line = LateLine()
        with simulated_board(simulator, folder / "board", config=hardware, spoil=line) as port:
            text = said_by_terminal(image, line, port, address=cfu.IMAGE_ADDRESS, last=_LAST)
    return {
        "config": config,
        "lines": [line.replace(f"{folder}/", "") for line in shown_lines(text)],
        "inputs": fingerprint(config),
        "seconds": round(time.monotonic() - begin),
    }


def fingerprint(config: str) -> dict[str, str]:
    """Return hashes of what the application and its cycles depend on now."""
    programs = [compile_stages(raw, config).program for raw in _models().values()]
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        image = application(build_simulator(find_config(config)), config, Path(name))
    return {
        "hardware": run_fingerprint(programs[0])["hardware"],
        "firmware": cache.digest([image]),
        "program": cache.digest([program.to_bytes() for program in programs]),
    }


def main(words: Sequence[str] | None = None) -> int:
    """Run it; print the lines, or write a result."""
    parser = argparse.ArgumentParser(prog="python -m tools.transcript", description=__doc__)
    parser.add_argument("--config", default="64", help="of the board")
    parser.add_argument("--json", type=Path, help="receives lines and hashes")
    chosen = parser.parse_args(words)
    said = transcript(chosen.config)
    if chosen.json is None:
        sys.stdout.writelines(f"{line}\n" for line in said["lines"])
    else:
        chosen.json.write_text(f"{json.dumps(said, indent=2)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
