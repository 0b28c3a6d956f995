"""Measures what steps of the CPU cost on the simulated system, for `kiwicha.kernels`.

``python -m tools.cpu_costs``, which ``nox -s costs`` runs, prints the `Cost`
of each kernel as it belongs there, with the median of its relative errors.
"""

import dataclasses
import itertools
import sys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.cpu.costs import work_of
from kiwicha.contract.configs import ENGINE_CONFIGS
from kiwicha.contract.program import (
    Kernel,
)
from kiwicha.kernels.kernel import Cost
from kiwicha.kernels.registry import KERNEL_PARAMS, KERNELS
from kiwicha.program.image import Program
from kiwicha.sim.verilator.program_run import run_program
from tests.support.programs.cases import CASES, add_step
from tests.support.programs.every_kernel import FIRMWARE_KERNELS
from tests.support.programs.steps import ProgramBuilder

__all__ = ["MEASURED", "UNUSUAL", "fit", "main", "measured", "robust_fit", "steps_of"]

CONFIG = "64"
"""Predictions are those of Programs with an engine, whose firmware is smaller, and slower."""
MEASURED = [kernel for kernel in FIRMWARE_KERNELS if KERNEL_PARAMS[kernel] in CASES]
"""The others were measured in public models."""
UNUSUAL = 0.3
"""A step that takes so much longer than predicted, relatively, is left out of the fit."""


def steps_of(kernels: Sequence[Kernel], seed: int, count: int) -> ProgramBuilder:
    """Return a Program of ``count`` steps of each kernel, of random sizes."""
    builder = ProgramBuilder()
    builder.config = ENGINE_CONFIGS[CONFIG]
    for kernel in kernels:
        rng = np.random.default_rng([seed, kernel])
        for number in range(count):
            add_step(builder, kernel, rng, number)
    return builder


def measured(builder: ProgramBuilder) -> tuple[Program, Sequence[int]]:
    """Return the Program and the cycles of each step.

    Of so many steps each finds the caches as others left them: a second inference is no different.
    """
    program = builder.program()
    result = run_program(program, builder.input_bytes)
    return program, result.step_cycles[-1]


def fit(works: NDArray[np.float64], cycles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the coefficients, 0 or more, with the least squares of relative errors."""
    best, least = np.zeros(works.shape[1]), np.inf
    for count in range(1, works.shape[1] + 1):
        for chosen in itertools.combinations(range(works.shape[1]), count):
            columns = list(chosen)
            found, *_ = np.linalg.lstsq(works[:, columns] / cycles[:, None], np.ones(len(cycles)))
            if (found < 0).any():
                continue
            error = float(((works[:, columns] @ found / cycles - 1) ** 2).sum())
            if error < least - 1e-12:
                least = error
                best = np.zeros(works.shape[1])
                best[columns] = found
    return best


def robust_fit(works: NDArray[np.float64], cycles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what `fit` gives without the steps whose operands meet in the data cache.

    It has one way: where two operands lie at the same place of it, a step takes up to three times
    as long.
    """
    found = fit(works, cycles)
    while True:
        is_usual = works @ found / cycles > 1 - UNUSUAL
        again = fit(works[is_usual], cycles[is_usual])
        if np.allclose(again, found):
            return found
        found = again


def main() -> int:
    """Measure, and print the costs."""
    # Firmware holds no two kernels on demand but those of one Program.
    usual = [kernel for kernel in MEASURED if not KERNELS[kernel].is_on_demand]
    for kernels in (usual, *([kernel] for kernel in MEASURED if kernel not in usual)):
        program, cycles = measured(steps_of(kernels, seed=1, count=16))
        for kernel in kernels:
            _print_cost(kernel, program, cycles)
    return 0


def _print_cost(kernel: Kernel, program: Program, cycles: Sequence[int]) -> None:
    chosen = [k for k, step in enumerate(program.steps) if step.kernel is kernel]
    works = np.array([(1, *dataclasses.astuple(work_of(program.steps[k]))) for k in chosen], float)
    spent = np.array([cycles[k] for k in chosen], float)
    found = robust_fit(works, spent)
    cost = Cost(*(float(f"{x:.3g}") for x in found))
    error = np.median(abs(works @ found / spent - 1))
    sys.stdout.write(f"{kernel.name}: {cost}  # median error {error:.0%}\n")


if __name__ == "__main__":
    sys.exit(main())
