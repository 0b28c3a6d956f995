"""The simulated system as a board: its UART behind a pseudo-terminal."""

import os
import pty
import re
import select
import subprocess
import time
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kiwicha.boards.selftest.power_up import power_up
from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS, Config
from kiwicha.contract.serial import LOADER_BYTES
from kiwicha.firmware.boot_image import build_boot_image
from kiwicha.firmware.power_up import PowerUp
from kiwicha.sim.soc.flash_model import FLASH_CONTENTS
from kiwicha.sim.soc.sdcard_model import SDCARD_CONTENTS
from kiwicha.sim.soc.sdcard_settings import SDCARD_SETTINGS, CardFault, CardKind, card_settings
from kiwicha.sim.soc.system_on_chip import HAS_LOADER
from kiwicha.sim.verilator.simulator import Simulator
from tests.support.boards.lines import relayed

__all__ = [
    "FIRMWARE_ADDRESS",
    "USABLE_BYTES",
    "SimulatedBoard",
    "SimulatedCard",
    "board_header",
    "impatient",
    "running_board",
    "simulated_board",
]

USABLE_BYTES = cfu.DRAM_BYTES - LOADER_BYTES
FIRMWARE_ADDRESS = cfu.DRAM_BASE + USABLE_BYTES - cfu.ONCHIP_BYTES
"""Where the host puts firmware."""
_SLOW_CLOCK_HZ = 4_000_000
_PIECE_BYTES = 4096


def board_header(simulator: Simulator) -> str:
    """Return ``kiwicha_soc.h`` for firmware that goes back to the loader."""
    return simulator.soc_header.replace(f"{HAS_LOADER} 0", f"{HAS_LOADER} 1")


def impatient(header: str) -> str:
    """Return ``kiwicha_soc.h`` with a slower clock, so that software waits for fewer cycles."""
    return re.sub(r"(KIWICHA_SYS_CLK_HZ) \d+u", rf"\1 {_SLOW_CLOCK_HZ}u", header)


@dataclass(frozen=True)
class SimulatedCard:
    """What is in a simulated system's slot for SD cards.

    Parameters
    ----------
    contents : bytes
        From its first block on.
    kind : CardKind
        What it is.
    fault : CardFault
        What goes wrong.
    block : int
        Which block a fault of reading is about.
    """

    contents: bytes
    kind: CardKind = CardKind.HIGH
    fault: CardFault = CardFault.NONE
    block: int = 0

    def write(self, folder: Path) -> None:
        """Write the files that the simulator reads."""
        _write_memory(folder, SDCARD_CONTENTS, self.contents)
        word = card_settings(self.kind, self.fault, self.block)
        (folder / f"soc_{SDCARD_SETTINGS}.init").write_text(f"{word:08x}\n")


def _write_memory(folder: Path, name: str, contents: bytes) -> None:
    lines = "".join(f"{byte:02x}\n" for byte in contents)
    (folder / f"soc_{name}.init").write_text(lines)


class SimulatedBoard:
    """The simulated system, running as a board would.

    Parameters
    ----------
    port : str
        Name of its serial port.
    command : list of str
        What runs it.
    folder : Path
        Where.
    to_board : int
        Descriptor of the pipe with what is under way to it.
    """

    def __init__(self, port: str, command: list[str], folder: Path, to_board: int) -> None:
        self.port = port
        self._command, self._folder, self._to_board = command, folder, to_board
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, stderr=subprocess.DEVNULL, cwd=self._folder)

    def reset(self, deaf_seconds: float = 0.0) -> None:
        """Configure it anew: DRAM and what was under way are lost; meanwhile it hears nothing."""
        self.stop()
        time.sleep(deaf_seconds)
        while select.select([self._to_board], [], [], 0)[0]:
            os.read(self._to_board, _PIECE_BYTES)
        self._process = self._start()

    def stop(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


@contextmanager
def simulated_board(
    simulator: Simulator,
    folder: Path,
    *,
    config: Config = CONFIGS["simd"],
    loads: Mapping[int, bytes] | None = None,
    flash: bytes | None = None,
    sdcard: SimulatedCard | None = None,
    checks: PowerUp | None = None,
    spoil: Callable[[bytes], bytes] = lambda raw: raw,
) -> Iterator[str]:
    """Run the simulated system as a board would; give the name of its serial port.

    Parameters are those of `running_board`.
    """
    with running_board(
        simulator,
        folder,
        config=config,
        loads=loads,
        flash=flash,
        sdcard=sdcard,
        checks=checks,
        spoil=spoil,
    ) as board:
        yield board.port


@contextmanager
def running_board(
    simulator: Simulator,
    folder: Path,
    *,
    config: Config = CONFIGS["simd"],
    loads: Mapping[int, bytes] | None = None,
    flash: bytes | None = None,
    sdcard: SimulatedCard | None = None,
    checks: PowerUp | None = None,
    spoil: Callable[[bytes], bytes] = lambda raw: raw,
) -> Iterator[SimulatedBoard]:
    """Run the simulated system as a board would, which can be reset.

    Parameters
    ----------
    simulator : Simulator
        That of the configuration.
    folder : Path
        Empty, for files and pipes.
    config : Config
        What the loader says that the board has.
    loads : mapping or None
        What is in its DRAM from the start, by address: the host need not send it.
    flash : bytes or None
        What flash memory holds from its image's place on, of a system that has one. The loader then
        believes in a slower clock, so that it waits for fewer cycles.
    sdcard : SimulatedCard or None
        What is in the slot for SD cards, of a system that has one; likewise.
    checks : PowerUp or None
        What is checked at power-up, by default what boards check.
    spoil : callable
        Sees every piece that passes in either direction, and returns what arrives.
    """
    header = board_header(simulator)
    if flash is not None or sdcard is not None:
        header = impatient(header)
    if flash is not None:
        _write_memory(folder, FLASH_CONTENTS, flash)
    if sdcard is not None:
        sdcard.write(folder)
    image = build_boot_image(
        config,
        header,
        loader_address=cfu.DRAM_BASE + USABLE_BYTES,
        power_up=power_up(config) if checks is None else checks,
    )
    pipes = folder / "to_host", folder / "to_board"
    for pipe in pipes:
        os.mkfifo(pipe)
    to_host, to_board = (os.open(pipe, os.O_RDWR) for pipe in pipes)
    host, port = pty.openpty()
    tty.setraw(port)

    command = [str(simulator.binary), "--max-cycles", "10000000000"]
    for address, raw in {cfu.ONCHIP_BASE: image.raw, **(loads or {})}.items():
        (folder / f"{address:#x}").write_bytes(raw)
        command += ["--load", f"{address:#x}:{folder / f'{address:#x}'}"]
    command += ["--uart-output", str(pipes[0]), "--uart-input", str(pipes[1])]
    relays = (
        (to_host, lambda raw: os.write(host, spoil(raw))),
        (host, lambda raw: os.write(to_board, spoil(raw))),
    )
    board = SimulatedBoard(os.ttyname(port), command, folder, to_board)
    try:
        with relayed(*relays):
            yield board
    finally:
        board.stop()
        for end in (port, host, to_host, to_board):
            os.close(end)
