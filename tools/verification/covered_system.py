"""Counts what models on the simulated system meet of the engine."""

import os
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from kiwicha import cache
from kiwicha.compiler import compile_model
from kiwicha.contract.configs import Config
from kiwicha.sim.verilator.power_up import without_zeros
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.verilator.simulator import (
    CFU,
    SOC_HEADER,
    VERILATE,
    Simulator,
    compiled_simulator,
    elaborated,
)
from kiwicha.zoo import models as zoo
from tests.support.models.two_heads import two_heads
from tools.verification import record
from tools.verification.covered_points import COVERAGE_FILE, COVERAGE_FLAGS
from tools.verification.points import Point, points

__all__ = ["MODELS", "points_of_models"]

MODELS = (zoo.DEMO, "kws", "two heads")
"""Names of those that run."""
_PATH = "KIWICHA_COVERAGE"
"""Environment variable: the file that a simulated system writes."""
_SYSTEM = "soc.v"
_HARNESS = Path(__file__).parent / "harness"


def points_of_models(config: Config) -> Counter[Point]:
    """Run each of `MODELS` twice, on random bytes, and return what was met.

    Parameters
    ----------
    config : Config
        A configuration with an engine.
    """
    simulator, cfu = _covered_system(config)
    met: Counter[Point] = Counter()
    with tempfile.TemporaryDirectory(prefix="kiwicha-covered-") as name:
        path = Path(name) / COVERAGE_FILE
        os.environ[_PATH] = str(path)
        for model in MODELS:
            known = two_heads() if model == "two heads" else zoo.resolve(model)[1]
            program = compile_model(known, config.name)
            rng = np.random.default_rng(1)
            inputs = [rng.bytes(tensor.ref.bytes) for tensor in program.inputs]
            run_program(program, inputs, inferences=2, simulator=simulator)
            met.update(points(path, cfu))
            record.say(f"{model}: {sum(map(bool, met.values())):,} points")
    return met


def _covered_system(config: Config) -> tuple[Simulator, str]:
    """Return the simulator of a configuration that counts, and its CFU's Verilog.

    When the firmware has finished, the file receives the counts whose path is in `_PATH`.
    """
    system = elaborated(config)
    # The harness knows nothing of coverage: the system writes it itself.
    path = f'std::getenv(\\"{_PATH}\\")'
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
