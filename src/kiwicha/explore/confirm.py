"""A point of the search on the real thing: simulated gateware, and a synthesised CFU."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from kiwicha.boards.family import Family
from kiwicha.boards.flow.synthesis import VENDORS, core_resources
from kiwicha.compiler import compile_model
from kiwicha.contract.configs import Config
from kiwicha.gateware.cfu import verilog
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.verilator.program_run import run_program

__all__ = ["Confirmed", "confirm", "simulate", "synthesise"]

_TOP = "Cfu"
_INFERENCES = 2


@dataclass(frozen=True)
class Confirmed:
    """What was measured.

    Parameters
    ----------
    cycles : tuple of int
        Of the second inference of each model.
    bit_exact : bool
        All outputs equal those of the reference executor.
    resources : mapping of str to float
        As `core_resources` counts them for the family.
    """

    cycles: tuple[int, ...]
    bit_exact: bool
    resources: Mapping[str, float]


def confirm(
    models: Sequence[bytes], configs: Sequence[Config], executor: Executor, family: Family
) -> dict[str, Confirmed]:
    """Simulate models on configurations, synthesise their CFUs, and return both by name.

    Each simulation of a model and each synthesis is a task of its own, so that two workers share
    even a single configuration.

    Parameters
    ----------
    models : sequence of bytes
        Contents of ``.tflite`` files.
    configs : sequence of Config
        Each with an engine.
    executor : Executor
        The processes that do the work.
    family : Family
        What the CFUs are made of; it has each of the configurations.

    Raises
    ------
    KiwichaError
        If a tool is missing or fails.
    """
    counts = {config.name: executor.submit(synthesise, config, family) for config in configs}
    # The first runs of all configurations before the second ones: each builds a simulator.
    runs = [[executor.submit(simulate, model, config) for config in configs] for model in models]
    found = {}
    for config, *of_config in zip(configs, *runs, strict=True):
        cycles, is_exact = zip(*(run.result() for run in of_config), strict=True)
        found[config.name] = Confirmed(cycles, all(is_exact), counts[config.name].result())
    return found


def simulate(model: bytes, config: Config) -> tuple[int, bool]:
    """Return the cycles of the second inference, on random inputs, and whether it is exact."""
    program = compile_model(model, config)
    rng = np.random.default_rng(0)
    inputs = [rng.bytes(tensor.ref.bytes) for tensor in program.inputs]
    result = run_program(program, inputs, inferences=_INFERENCES)
    expected = tuple(output.tobytes() for output in reference.run(program, inputs))
    return result.last_cycles, result.outputs == expected


def synthesise(config: Config, family: Family) -> dict[str, float]:
    """Return what a configuration's CFU takes of an FPGA."""
    return core_resources(verilog(config, VENDORS[family]), _TOP, family)
