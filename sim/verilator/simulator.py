"""The simulator: the system on chip as Verilog, compiled by Verilator with our harness."""

import json
import os
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.contract.configs import CONFIGS, DEFAULT_CONFIG, Config
from kiwicha.contract.peripherals import Peripheral
from kiwicha.sim.soc.dram_timing import DramTimes
from kiwicha.sim.soc.sources import GENERATORS, hardware_sources
from kiwicha.sim.verilator.build_time import announcement, simulator_seconds
from kiwicha.sim.verilator.compiled_design import COMPILE, compile_design
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.verilated_runtime import CFLAGS, COMPRESSION
from kiwicha.sim.verilator.wave_names import without_dots, without_steps
from kiwicha.sim.verilator.write_log import logging_system

__all__ = [
    "CFU",
    "CHECK_DRAM",
    "ELABORATED",
    "GENERATING",
    "HARNESS",
    "SOC_HEADER",
    "VERILATE",
    "Simulator",
    "build_simulator",
    "compiled_simulator",
    "elaborated",
    "hardware_config",
    "soc_header_text",
    "system_headers",
]

CHECK_DRAM = "KIWICHA_CHECK_DRAM"
"""Environment variable: simulators check what DRAM gets, if it is set and not empty."""
GENERATING = "generating the system on chip"
"""Name of the first stage."""

_FOLDER = Path(__file__).parent
HARNESS = _FOLDER / "harness"
"""Folders of C++: ``system`` is the program's, ``web`` that of `web_module`."""
SOC_HEADER = "kiwicha_soc.h"
"""For the firmware."""
_PROGRAM = "Vsoc"
_LITEX_HEADERS = "generated"
_DRAM_TIMES = "dram_times.json"
CFU = "cfu.v"
ELABORATED = ("soc.v", "cpu.v", CFU, "memories.h", "probes.h")
"""What a simulator is made of, besides the harness."""

VERILATE: tuple[str, ...] = (
    *("--cc", "--top-module", "soc", "--prefix", "Vsoc", "--Mdir", "."),
    # What has no value at the start is zero: `without_zeros` counts on it.
    *("-O3", "--x-assign", "fast", "--x-initial", "0", "--no-assert"),
    # LiteX writes non-blocking assignments in combinational processes.
    *("-Wno-lint", "-Wno-style", "-Wno-COMBDLY", "-Wno-fatal"),
)
"""Options of Verilator."""
_TRACE = ("--trace-fst", "--no-trace-params")


@dataclass(frozen=True)
class Simulator:
    """A compiled simulator.

    Parameters
    ----------
    binary : Path
        The program; its ``--help`` lists its options.
    soc_header : str
        ``kiwicha_soc.h`` for the firmware.
    has_trace : bool
        It can write waveforms, and is slower.
    checked : DramTimes or None
        It logs the commands that DRAM gets, which must keep to these times.
    logs_writes : bool
        It logs what the engine writes, for `kiwicha.sim.verilator.write_log`.
    """

    binary: Path
    soc_header: str
    has_trace: bool
    checked: DramTimes | None = None
    logs_writes: bool = False


def hardware_config(config: Config) -> Config:
    """Return the configuration whose hardware runs Programs of ``config``.

    Parameters
    ----------
    config : Config
        One without custom instructions runs on the default hardware and leaves its CFU alone, so
        that one simulator serves both.
    """
    return config if config.has_simd else CONFIGS[DEFAULT_CONFIG].with_memory(config.memory)


def build_simulator(
    config: Config,
    *,
    trace: bool = False,
    peripherals: Collection[Peripheral] = (),
    on_build: Callable[[str], None] | None = None,
    checks_dram: bool | None = None,
    logs_writes: bool = False,
) -> Simulator:
    """Return the simulator of a configuration, built at most once.

    Parameters
    ----------
    config : Config
        The configuration of a Program.
    trace : bool
        The simulator can write waveforms.
    peripherals : collection of Peripheral
        What the system has besides.
    on_build : callable or None
        Called with the name of each stage that takes time, and how long if that is long.
    checks_dram : bool or None
        Runs fail if a command comes to DRAM before its chip can take it; None: as `CHECK_DRAM`
        says. The hardware is the same.
    logs_writes : bool
        What the engine writes is logged. The hardware is the same.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """

    def announce(stage: str) -> Callable[[], None] | None:
        return None if on_build is None else lambda: on_build(stage)

    if checks_dram is None:
        checks_dram = bool(os.environ.get(CHECK_DRAM))
    system = elaborated(config, announce(GENERATING), peripherals, logs_dram=checks_dram)
    if logs_writes:
        system = logging_system(hardware_config(config), system)
    flags = ["--exe", *VERILATE, *(_TRACE if trace else ())]
    cfu = without_zeros((system / CFU).read_text(encoding="utf-8"))
    if trace:
        cfu = without_steps(without_dots(cfu))
    stage = "compiling the simulator" + (" with waveforms" if trace else "")
    seconds = simulator_seconds(len(cfu), tools.cores(), trace=trace)
    told = announce(announcement(stage, seconds))
    return Simulator(
        binary=compiled_simulator(system, cfu, flags, on_build=told),
        soc_header=(system / SOC_HEADER).read_text(encoding="utf-8"),
        has_trace=trace,
        checked=_times(system) if checks_dram else None,
        logs_writes=logs_writes,
    )


def compiled_simulator(
    system: Path,
    cfu: str,
    flags: Sequence[str],
    *,
    quoted: Path | None = None,
    on_build: Callable[[], None] | None = None,
) -> Path:
    """Return the program of a simulator, compiled at most once.

    Parameters
    ----------
    system : Path
        From `elaborated`.
    cfu : str
        The CFU's Verilog as it is simulated.
    flags : sequence of str
        Of Verilator.
    quoted : Path or None
        A folder of more directives, and of headers that come before others of their names.
    on_build : callable or None
        Called before it is compiled, and only if it is.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """
    verilator, cxx = tools.verilator(), tools.cxx()
    folders = HARNESS / "system", *(() if quoted is None else (quoted,))
    files = [path for folder in folders for path in folder.rglob("*")]
    harness = sorted(path for path in files if path.suffix in {".cpp", ".h", ".vlt"})
    others = [system / name for name in ELABORATED if name != CFU]
    options = (*flags, *COMPILE, CFLAGS, verilator.version, cxx.version, cfu)
    key = cache.digest([*options, *others, *harness])
    first = () if quoted is None else ("-CFLAGS", f"-iquote {quoted}")

    def compile_into(folder: Path) -> None:
        (folder / CFU).write_text(cfu, encoding="utf-8")
        sources = [path for path in (*others, folder / CFU, *harness) if path.suffix != ".h"]
        includes = (system, COMPRESSION)
        compile_design(folder, sources, flags=[*flags, *first], includes=includes, name=_PROGRAM)

    return cache.build("simulator", key, compile_into, on_build=on_build) / _PROGRAM


def _times(system: Path) -> DramTimes:
    return DramTimes(**json.loads((system / _DRAM_TIMES).read_text(encoding="utf-8")))


def soc_header_text(
    config: Config,
    on_build: Callable[[], None] | None = None,
    *,
    peripherals: Collection[Peripheral] = (),
) -> str:
    """Return ``kiwicha_soc.h`` without compiling the simulator.

    Parameters
    ----------
    config : Config
        The configuration of a Program.
    on_build : callable or None
        Called before the system is generated, and only if it is.
    peripherals : collection of Peripheral
        What the system has besides.
    """
    return (elaborated(config, on_build, peripherals) / SOC_HEADER).read_text(encoding="utf-8")


def system_headers(config: Config, on_build: Callable[[], None] | None = None) -> dict[str, str]:
    """Return ``kiwicha_soc.h`` and LiteX's headers by their paths; else as `soc_header_text`."""
    folder = elaborated(config, on_build)
    paths = [folder / SOC_HEADER, *sorted((folder / _LITEX_HEADERS).iterdir())]
    return {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}


def elaborated(
    config: Config,
    on_build: Callable[[], None] | None = None,
    peripherals: Collection[Peripheral] = (),
    *,
    logs_dram: bool = False,
) -> Path:
    """Return the folder of what `kiwicha.sim.soc.elaborate` writes, generated at most once.

    Parameters
    ----------
    config : Config
        The configuration of a Program.
    on_build : callable or None
        Called before it is generated, and only if it is.
    peripherals : collection of Peripheral
        What the system has besides.
    logs_dram : bool
        It prints the commands that DRAM gets.
    """
    hardware = hardware_config(config)
    return cache.build(
        "soc",
        _elaboration_key(hardware, peripherals, logs_dram=logs_dram),
        lambda folder: _elaborate(hardware, peripherals, folder, logs_dram=logs_dram),
        on_build=on_build,
    )


def _elaboration_key(
    config: Config, peripherals: Collection[Peripheral], *, logs_dram: bool
) -> str:
    names = (config.name, config.memory.name, *sorted(peripherals), *(["log"] * logs_dram))
    return cache.digest([*names, *cache.package_versions(GENERATORS), *hardware_sources()])


def _elaborate(
    config: Config, peripherals: Collection[Peripheral], folder: Path, *, logs_dram: bool
) -> None:
    tools.run(
        [
            *(sys.executable, "-m", "kiwicha.sim.soc.elaborate"),
            *(config.name, config.memory.name, str(folder)),
            *(f"--with={peripheral}" for peripheral in sorted(peripherals)),
            *(["--log-dram"] * logs_dram),
        ],
        name="the generator of the system on chip",
    )
