"""The simulator that counts toggles: the usual one, with counters in place of waveforms."""

from collections.abc import Callable
from pathlib import Path

from kiwicha import cache, tools
from kiwicha.contract.configs import Config
from kiwicha.sim.verilator.build_time import announcement, simulator_seconds
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.simulator import (
    CFU,
    COMPILE,
    ELABORATED,
    GENERATING,
    HARNESS,
    SOC_HEADER,
    VERILATE,
    Simulator,
    compile_design,
    elaborated,
)
from kiwicha.sim.verilator.verilated_runtime import CFLAGS, COMPRESSION
from kiwicha.sim.verilator.wave_names import without_dots

__all__ = ["TOGGLE_FLAGS", "build_toggle_simulator", "counted_verilog"]

# Names of registers that Yosys has made begin with an underscore.
TOGGLE_FLAGS = ("--trace-saif", "--trace-underscore", "--no-trace-params")
"""Options of Verilator, besides the usual ones."""
_FOLDER = HARNESS / "toggles"
_SUFFIXES = {".cpp", ".h", ".vlt"}


def counted_verilog(config: Config, on_build: Callable[[], None] | None = None) -> str:
    """Return the CFU's Verilog with the names that counts have.

    Parameters
    ----------
    config : Config
        A configuration with custom instructions.
    on_build : callable or None
        Called before the system is generated, and only if it is.
    """
    text = (elaborated(config, on_build) / CFU).read_text(encoding="utf-8")
    return without_dots(without_zeros(text))


def build_toggle_simulator(
    config: Config, *, on_build: Callable[[str], None] | None = None
) -> Simulator:
    """Return the simulator whose ``--trace`` file is in the Switching Activity Interchange Format.

    It is built at most once for a configuration. Only the CFU is in the file.

    Parameters
    ----------
    config : Config
        A configuration with custom instructions.
    on_build : callable or None
        Called with the name of each stage that takes time, and how long if that is long.

    Raises
    ------
    ToolError
        If a tool is missing or fails.
    """

    def announce(stage: str) -> Callable[[], None] | None:
        return None if on_build is None else lambda: on_build(stage)

    cfu = counted_verilog(config, announce(GENERATING))
    system = elaborated(config)
    verilator, cxx = tools.verilator(), tools.cxx()
    harness = sorted(
        path
        for folder in (HARNESS / "system", _FOLDER)
        for path in folder.rglob("*")
        if path.suffix in _SUFFIXES
    )
    # Where names in quotes are looked for first.
    flags = ["--exe", *VERILATE, *TOGGLE_FLAGS, "-CFLAGS", f"-iquote {_FOLDER}"]
    others = [system / name for name in ELABORATED if name != CFU]
    options = (*VERILATE, *TOGGLE_FLAGS, *COMPILE, CFLAGS, verilator.version, cxx.version, cfu)
    key = cache.digest([*options, *others, *harness])

    def compile_into(folder: Path) -> None:
        (folder / CFU).write_text(cfu, encoding="utf-8")
        sources = [path for path in (*others, folder / CFU, *harness) if path.suffix != ".h"]
        compile_design(folder, sources, flags=flags, includes=(system, COMPRESSION), name="Vsoc")

    seconds = simulator_seconds(len(cfu), tools.cores(), trace=True)
    told = announce(announcement("compiling the simulator with counters", seconds))
    entry = cache.build("toggle_simulator", key, compile_into, on_build=told)
    header = (system / SOC_HEADER).read_text(encoding="utf-8")
    return Simulator(binary=entry / "Vsoc", soc_header=header, has_trace=True)
