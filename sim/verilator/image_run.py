"""Runs the simulator from reset to the firmware's exit."""

import json
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from kiwicha.errors import SimulationError
from kiwicha.sim.soc.dram_timing import DramTiming
from kiwicha.sim.verilator.activity import Activity
from kiwicha.sim.verilator.simulator import Simulator
from kiwicha.sim.verilator.write_log import LOG_FILE, WriteLog

__all__ = ["DEFAULT_MAX_CYCLES", "Ending", "Progress", "run_image"]

DEFAULT_MAX_CYCLES = 10_000_000_000
"""Far beyond the largest model's portable kernels; a hang of the hardware ends here."""

_CYCLE_LIMIT_EXIT = 3
_TOP = "soc"
_LOG_LINES = 12

Progress = Callable[[int, int], None]
"""Called a few times a second with the cycles simulated and the steps finished so far."""


@dataclass(frozen=True)
class Ending:
    """How a simulation ended.

    Parameters
    ----------
    code : int
        Exit code of the firmware.
    cycles : int
        Cycles from reset to the exit.
    wall_seconds : float
        Time taken.
    uart : str
        What the firmware sent.
    dumps : tuple of bytes
        Contents of the memory ranges asked for.
    activity : Activity
        What engine and steps did, and when.
    writes : WriteLog or None
        What the engine wrote, and when, if the simulator logs that.
    """

    code: int
    cycles: int
    wall_seconds: float
    uart: str
    dumps: tuple[bytes, ...]
    activity: Activity
    writes: WriteLog | None = None


def run_image(
    simulator: Simulator,
    *,
    loads: Sequence[tuple[int, bytes]],
    dumps: Sequence[tuple[int, int]] = (),
    max_cycles: int = DEFAULT_MAX_CYCLES,
    uart_input: bytes = b"",
    memories: Mapping[str, bytes] | None = None,
    trace: Path | None = None,
    trace_start: int = 0,
    trace_stop: int | None = None,
    on_progress: Progress | None = None,
) -> Ending:
    """Simulate from reset until the firmware exits.

    Parameters
    ----------
    simulator : Simulator
        The simulator.
    loads : sequence of (int, bytes)
        Address and contents of memory before reset.
    dumps : sequence of (int, int)
        Address and size of memory ranges to return.
    max_cycles : int
        The simulation is given up after so many cycles.
    uart_input : bytes
        What the UART receives, as fast as the firmware takes it.
    memories : mapping or None
        Contents of models of what is beside the system, a byte for each word, by the names that
        these models have.
    trace : Path or None
        File for waveforms, in FST format; needs a simulator that has traces.
    trace_start : int
        First cycle in that file.
    trace_stop : int or None
        First cycle behind it; by default all cycles are in it.
    on_progress : callable or None
        See `Progress`.

    Raises
    ------
    SimulationError
        If the cycle limit is reached, the simulator fails, or a command comes to DRAM too early.
    """
    with tempfile.TemporaryDirectory(prefix="kiwicha-") as name:
        folder = Path(name)
        command = [str(simulator.binary), "--max-cycles", str(max_cycles)]
        for index, (address, raw) in enumerate(loads):
            path = folder / f"load{index}"
            path.write_bytes(raw)
            command += ["--load", f"{address:#x}:{path}"]
        paths = [folder / f"dump{index}" for index in range(len(dumps))]
        for path, (address, size) in zip(paths, dumps, strict=True):
            command += ["--dump", f"{address:#x}:{size}:{path}"]
        uart = folder / "uart"
        log = folder / "activity"
        command += ["--uart-output", str(uart), "--activity", str(log)]
        if uart_input:
            (folder / "uart_input").write_bytes(uart_input)
            command += ["--uart-input", str(folder / "uart_input")]
        for memory, raw in (memories or {}).items():
            lines = "".join(f"{byte:02x}\n" for byte in raw)
            (folder / f"{_TOP}_{memory}.init").write_text(lines, encoding="utf-8")
        if trace is not None:
            trace.parent.mkdir(parents=True, exist_ok=True)
            command += ["--trace", str(trace.absolute()), "--trace-start", str(trace_start)]
            if trace_stop is not None:
                command += ["--trace-stop", str(trace_stop)]
        timing = None if simulator.checked is None else DramTiming(simulator.checked)
        end = _simulate(command, folder, on_progress, timing)
        if timing is not None:
            _check(timing)
        text = uart.read_text(encoding="utf-8", errors="replace")
        if not end["finished"]:
            raise SimulationError(_cycle_limit(max_cycles, end["steps"], text))
        return Ending(
            code=end["code"],
            cycles=end["cycles"],
            wall_seconds=end["wall_seconds"],
            uart=text,
            dumps=tuple(path.read_bytes() for path in paths),
            activity=Activity.from_bytes(log.read_bytes()),
            writes=_writes(folder) if simulator.logs_writes else None,
        )


def _writes(folder: Path) -> WriteLog:
    return WriteLog.from_bytes((folder / LOG_FILE).read_bytes())


def _check(timing: DramTiming) -> None:
    if timing.count:
        lines = "\n".join(timing.violations)
        raise SimulationError(
            f"commands to DRAM must keep to the times of its chip, {timing.count} of "
            f"{timing.commands} do not:\n{lines}"
        )


def _simulate(
    command: list[str], folder: Path, on_progress: Progress | None, timing: DramTiming | None
) -> dict[str, int]:
    log: list[str] = []
    end: dict[str, int] | None = None
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if timing is None else subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    ) as process:
        follower = threading.Thread(target=_follow, args=(process.stdout, timing))
        follower.start()
        try:
            for line in process.stderr or ():
                if not line.startswith("{"):
                    log.append(line.rstrip())
                    continue
                event = json.loads(line)
                if event["event"] == "end":
                    end = event
                elif on_progress is not None:
                    on_progress(event["cycles"], event["steps"])
        except BaseException:
            process.kill()
            raise
        finally:
            follower.join()
    if end is None or process.returncode not in {0, _CYCLE_LIMIT_EXIT}:
        tail = "\n".join(log[-_LOG_LINES:]) or "it printed nothing"
        raise SimulationError(f"the simulator failed ({_reason(process.returncode)}): {tail}")
    return end


def _follow(lines: IO[str] | None, timing: DramTiming | None) -> None:
    """Check what the simulated system prints, while it runs."""
    if lines is not None and timing is not None:
        for line in lines:
            timing.take_line(line)


def _reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"


def _cycle_limit(max_cycles: int, steps: int, uart: str) -> str:
    text = (
        f"the simulation must end within {max_cycles} cycles, and was given up after {steps} "
        "finished steps; raise the limit if the model is larger than that"
    )
    return f"{text} (UART: {uart.strip()})" if uart.strip() else text
