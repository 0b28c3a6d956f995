"""Random steps of kernels: a file for each parameter structure.

A file has `PARAMS`, the structure, and ``add(builder, kernel, rng, number)``, which adds a step of
any kernel that takes it. `add_step` finds them.
"""

import importlib
import pkgutil
from collections.abc import Callable

import numpy as np

from kiwicha.contract.layout import Struct
from kiwicha.contract.program import Kernel
from kiwicha.kernels.registry import KERNEL_PARAMS
from tests.support.programs.steps import ProgramBuilder

__all__ = ["CASES", "add_step"]

Add = Callable[[ProgramBuilder, Kernel, np.random.Generator, int], None]

CASES: dict[type[Struct], Add] = {}
for _item in pkgutil.iter_modules(__path__):
    _module = importlib.import_module(f"{__name__}.{_item.name}")
    CASES[_module.PARAMS] = _module.add


def add_step(
    builder: ProgramBuilder, kernel: Kernel, rng: np.random.Generator, number: int
) -> None:
    """Add a step of random size; with odd and even numbers where a kernel has two ways."""
    CASES[KERNEL_PARAMS[kernel]](builder, kernel, rng, number)
