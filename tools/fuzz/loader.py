"""Hostile bytes for a board's loader: of its serial line, and of memory that was half written."""

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kiwicha.boards.flash_image import flash_image
from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS
from kiwicha.firmware.build import SOC_HEADER_NAME
from kiwicha.firmware.header import HEADER_NAME, header
from kiwicha.firmware.native import compile_for_host
from kiwicha.firmware.sources import FOLDER

__all__ = ["LoaderResult", "cut_writing", "talk"]

_OWN = tuple(Path(__file__).parent / name for name in ("loader.c", "loader_main.c"))
_CONFIG = CONFIGS["simd"]
_SOURCES = tuple(FOLDER / "boot" / name for name in ("frame.c", "line.c", "litex.c"))
_FOLDERS = tuple(FOLDER / name for name in ("boot", "platform", "runtime"))
_HANGS = 66
_DRAM_BYTES = 16 * 1024
_ONCHIP_BASE = 0x3000_0000
"""Elsewhere than on a board: address 0 is none on this machine."""
_SOC_HEADER = f"""#ifndef KIWICHA_SOC_H
#define KIWICHA_SOC_H
#define KIWICHA_SYS_CLK_HZ 1000u
#define KIWICHA_SOC_DRAM_BYTES {_DRAM_BYTES}u
#define KIWICHA_CSR_UART_TXFULL 0x20000000u
#endif
"""


@dataclass(frozen=True)
class LoaderResult:
    """What came of hostile bytes.

    Parameters
    ----------
    executions : int
        How many inputs there were, or writings that were cut.
    refused, old, new : int
        What the next start found of those that were cut: nothing to start, or one of both images.
        Of inputs ``refused`` is how many programs they have started.
    crashes, hangs : int
        1 if the last one tripped a sanitizer, broke a rule, or got no answer.
    log : str
        What was printed then.
    """

    executions: int
    refused: int = 0
    old: int = 0
    new: int = 0
    crashes: int = 0
    hangs: int = 0
    log: str = ""


def _build() -> Path:
    moved = re.sub(
        r"(?m)^#define KIWICHA_ONCHIP_BASE .*$",
        f"#define KIWICHA_ONCHIP_BASE {_ONCHIP_BASE:#x}u",
        header(_CONFIG),
    )
    included = [FOLDER / "boot" / "loader.c"]
    included += sorted(path for folder in _FOLDERS for path in folder.glob("*.h"))
    return compile_for_host(
        {HEADER_NAME: moved, SOC_HEADER_NAME: _SOC_HEADER},
        [*_OWN, *_SOURCES],
        included,
        _FOLDERS,
    )


def _run(*words: str) -> LoaderResult:
    done = subprocess.run(
        [str(_build()), *words], capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode == 0:
        executions, refused, old, new = map(int, done.stdout.split())
        return LoaderResult(executions, refused, old, new)
    hangs = int(done.returncode == _HANGS)
    return LoaderResult(0, crashes=1 - hangs, hangs=hangs, log=done.stderr)


def talk(first: int, last: int) -> LoaderResult:
    """Send the loader hostile bytes; each time it must answer a host that asks who is there.

    Parameters
    ----------
    first, last : int
        Numbers of the inputs; ``last`` is not among them.
    """
    return _run("serial", str(first), str(last))


def cut_writing(first: int, last: int, *, card: bool = False) -> LoaderResult:
    """Let the power go while an image is written over another, and start anew.

    Flash memory is erased by sectors of 4 KB, all first or one by one, and programmed by pages of
    256 bytes; what is being erased or programmed when the power goes has any bits. A card's blocks
    are overwritten, and the last one has both images' bytes or any.

    Parameters
    ----------
    first, last : int
        Numbers of the cuts; ``last`` is not among them.
    card : bool
        On a card instead of flash memory.
    """
    images = [flash_image(_CONFIG, _pieces(seed), start=cfu.IMAGE_ADDRESS) for seed in (0, 1)]
    with tempfile.TemporaryDirectory(prefix="kiwicha-cut-") as name:
        paths = [Path(name) / f"image{number}" for number in range(2)]
        for path, raw in zip(paths, images, strict=True):
            path.write_bytes(raw)
        return _run("card" if card else "flash", str(first), str(last), *map(str, paths))


def _pieces(seed: int) -> list[tuple[int, bytes]]:
    """Return pieces of memory; those of both images have a beginning in common."""
    rng = np.random.default_rng(seed)
    common = np.random.default_rng(9).bytes(700)
    sizes = (1000, 5000 + 1500 * seed)
    return [
        (cfu.IMAGE_ADDRESS + 2048 * number, common + rng.bytes(size))
        for number, size in enumerate(sizes)
    ]
