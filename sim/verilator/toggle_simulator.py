"""The simulator that counts toggles: the usual one, with counters in place of waveforms."""

from collections.abc import Callable

from kiwicha import tools
from kiwicha.contract.configs import Config
from kiwicha.sim.verilator.build_time import announcement, simulator_seconds
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.simulator import (
    CFU,
    GENERATING,
    HARNESS,
    SOC_HEADER,
    VERILATE,
    Simulator,
    compiled_simulator,
    elaborated,
)
from kiwicha.sim.verilator.wave_names import without_dots

__all__ = ["TOGGLE_FLAGS", "build_toggle_simulator", "counted_verilog"]

# Names of registers that Yosys has made begin with an underscore.
TOGGLE_FLAGS = ("--trace-saif", "--trace-underscore", "--no-trace-params")
"""Options of Verilator, besides the usual ones."""


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
    seconds = simulator_seconds(len(cfu), tools.cores(), trace=True)
    told = announce(announcement("compiling the simulator with counters", seconds))
    flags = ["--exe", *VERILATE, *TOGGLE_FLAGS]
    return Simulator(
        binary=compiled_simulator(system, cfu, flags, quoted=HARNESS / "toggles", on_build=told),
        soc_header=(system / SOC_HEADER).read_text(encoding="utf-8"),
        has_trace=True,
    )
