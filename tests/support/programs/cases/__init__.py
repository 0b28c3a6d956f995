"""Random steps of kernels: a file for each parameter structure.

A file has `PARAMS`, the structure, and ``add(builder, kernel, rng, number)``, which adds a step of
a kernel that takes it. `add_step` finds them.
"""

import copy
import importlib
import itertools
import pkgutil
from collections.abc import Callable

import numpy as np

from kiwicha.contract.layout import Struct
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Call
from kiwicha.kernels.registry import KERNEL_PARAMS, KERNELS
from tests.support.programs.steps import ProgramBuilder

__all__ = ["CASES", "add_step", "can_compute"]

Add = Callable[[ProgramBuilder, Kernel, np.random.Generator, int], None]

CASES: dict[type[Struct], Add] = {}
for _item in pkgutil.iter_modules(__path__):
    _module = importlib.import_module(f"{__name__}.{_item.name}")
    CASES[_module.PARAMS] = _module.add


def can_compute(kernel: Kernel, params: Struct) -> bool:
    """Whether a kernel's own condition holds, for one of those that it replaces."""
    item = KERNELS[kernel]
    return not item.replaces or any(
        item.condition(Call(other, params, {})) for other in item.replaces
    )


def add_step(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int
) -> None:
    """Add a step of random size that the kernel can compute.

    Where a structure has two ways, even and odd numbers choose one, if the kernel can do both.
    """
    for attempt in itertools.count(number):
        trial = copy.deepcopy(builder)
        CASES[KERNEL_PARAMS[kernel]](trial, kernel, rng, attempt)
        if can_compute(kernel, trial.steps[-1].params):
            vars(builder).update(vars(trial))
            return
