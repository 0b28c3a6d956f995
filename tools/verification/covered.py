"""Simulators that count which lines, branches and toggles were met, in the engine alone."""

from pathlib import Path

from kiwicha import cache
from kiwicha.contract.configs import Config
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.simulator import (
    CFU,
    SOC_HEADER,
    VERILATE,
    Simulator,
    compiled_simulator,
    elaborated,
)

__all__ = ["COVERAGE_FILE", "COVERAGE_FLAGS", "COVERAGE_PATH", "covered_system"]

COVERAGE_FLAGS = ("--coverage-line", "--coverage-toggle")
"""Options of Verilator."""
COVERAGE_FILE = "coverage.dat"
"""What a simulation of the engine alone writes where it runs."""
COVERAGE_PATH = "KIWICHA_COVERAGE"
"""Environment variable: the file that a simulated system writes."""

_SYSTEM = "soc.v"
_HARNESS = Path(__file__).parent / "harness"


def covered_system(config: Config) -> tuple[Simulator, str]:
    """Return the simulator of a configuration that counts, and its CFU's Verilog.

    Parameters
    ----------
    config : Config
        A configuration with an engine. When the firmware has finished, the file receives the counts
        whose path is in `COVERAGE_PATH`.
    """
    system = elaborated(config)
    # The harness knows nothing of coverage: the system writes it itself.
    path = f'std::getenv(\\"{COVERAGE_PATH}\\")'
    write = f"Verilated::threadContextp()->coveragep()->write({path});"
    lines = "\n".join([
        "reg has_written = 1'b0;",
        "always @(posedge sys_clk) if (simulation_finish & ~has_written) begin",
        "    has_written <= 1'b1;",
        f'    $c("{write}");',
        "end",
        "",
    ])
    text = (system / _SYSTEM).read_text(encoding="utf-8")
    start = text.index("endmodule", text.index("module soc"))
    changed = f"{text[:start]}{lines}{text[start:]}"

    def make(folder: Path) -> None:
        for path in sorted(system.iterdir()):
            if path.is_file():
                (folder / path.name).write_bytes(path.read_bytes())
        (folder / _SYSTEM).write_text(changed, encoding="utf-8")

    files = [path for path in sorted(system.iterdir()) if path.is_file()]
    made = cache.build("covered_soc", cache.digest([changed, *files]), make)
    cfu = without_zeros((system / CFU).read_text(encoding="utf-8"))
    flags = ["--exe", *VERILATE, *COVERAGE_FLAGS]
    binary = compiled_simulator(made, cfu, flags, quoted=_HARNESS)
    header = (system / SOC_HEADER).read_text(encoding="utf-8")
    return Simulator(binary=binary, soc_header=header, has_trace=False), cfu
