"""The bring-up design in Verilator, as a serial port: its UART is joined bit by bit."""

import json
import os
import select
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Self

from kiwicha import cache, tools
from kiwicha.contract.configs import Config
from kiwicha.contract.serial import SERIAL_BAUD
from kiwicha.errors import SimulationError
from kiwicha.gateware.bringup.bring_up import bring_up_verilog
from kiwicha.sim.verilator.compiled_design import COMPILE, compile_design
from kiwicha.sim.verilator.verilated_runtime import CFLAGS

__all__ = ["SimulatedBoard", "build_bring_up_simulator", "compile_bring_up"]

_HARNESS = Path(__file__).parent / "harness" / "bring_up"
_PROGRAM = "Vbring_up"
_FLAGS = (
    *("--cc", "--exe", "--top-module", "bring_up", "--prefix", _PROGRAM, "--Mdir", "."),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--no-assert"),
    *("-Wno-lint", "-Wno-style", "-Wno-fatal"),
)
_READ_SECONDS = 0.02
_END_SECONDS = 10


def compile_bring_up(verilog: str, *, on_build: Callable[[], None] | None = None) -> Path:
    """Return the simulator of a bring-up design, built at most once.

    Parameters
    ----------
    verilog : str
        Module ``bring_up``.
    on_build : callable or None
        Called before compilation starts, and only if it does.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    harness = sorted(_HARNESS.iterdir())
    key = cache.digest([
        *(*_FLAGS, *COMPILE, CFLAGS, tools.verilator().version, tools.cxx().version),
        verilog,
        *harness,
    ])

    def builder(folder: Path) -> None:
        source = folder / "bring_up.v"
        source.write_text(verilog, encoding="utf-8")
        sources = [source, *(path for path in harness if path.suffix == ".cpp")]
        compile_design(folder, sources, flags=_FLAGS, includes=(_HARNESS,), name=_PROGRAM)

    return cache.build("bring_up_simulator", key, builder, on_build=on_build) / _PROGRAM


def build_bring_up_simulator(
    config: Config,
    clock_hz: int,
    baud: int = SERIAL_BAUD,
    *,
    on_build: Callable[[], None] | None = None,
) -> Path:
    """Return the simulator of the bring-up design; arguments as for `BringUp`."""
    return compile_bring_up(bring_up_verilog(config, clock_hz, baud), on_build=on_build)


class SimulatedBoard:
    """A serial port with the simulated design at its other end.

    Parameters
    ----------
    simulator : Path
        What `build_bring_up_simulator` returned.
    clock_hz : int
        Frequency of the design's clock.
    baud : float
        Bits per second of this end of the line, which may be off.
    """

    def __init__(self, simulator: Path, clock_hz: int, baud: float = SERIAL_BAUD) -> None:
        self._process = subprocess.Popen(
            [str(simulator), repr(clock_hz / baud)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.cycles = 0
        """Cycles that were simulated; known after the end."""
        self.framing_errors = 0
        """Bytes of the design without a stop bit; known after the end."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, value: object, trace: object) -> None:
        try:
            # The end of its input ends it.
            _, log = self._process.communicate(timeout=_END_SECONDS)
        finally:
            self._process.kill()
        if kind is not None:
            return
        try:
            end = json.loads(log)
        except ValueError as error:
            raise SimulationError(f"the simulator failed: {log.decode()!r}") from error
        self.cycles, self.framing_errors = end["cycles"], end["framing_errors"]

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, none if nothing came in time."""
        output = self._process.stdout
        if output is None or not select.select([output], [], [], _READ_SECONDS)[0]:
            return b""
        raw = os.read(output.fileno(), size)
        if not raw:
            raise OSError("the simulator has ended")
        return raw

    def write(self, data: bytes) -> int:
        """Send bytes."""
        if self._process.stdin is None:
            return 0
        self._process.stdin.write(data)
        return len(data)
