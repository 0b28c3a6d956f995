"""Programs whose next inputs can be written while they run, from Programs of one place for them."""

import dataclasses

from kiwicha.compiler.driver import Compilation
from kiwicha.compiler.steps.allocate import allocate
from kiwicha.compiler.steps.emit import emit

__all__ = ["with_double_buffer"]


def with_double_buffer(compilation: Compilation) -> Compilation:
    """Return what `compile_stages` gives with a double buffer, from what it gave without.

    Parameters
    ----------
    compilation : Compilation
        With or without.

    Raises
    ------
    CapacityError
        If the arena would be larger than the memory behind it.
    """
    memory = allocate(compilation.network, compilation.calls, double_buffer=True)
    return dataclasses.replace(
        compilation,
        memory=memory,
        program=emit(compilation.network, compilation.calls, memory, compilation.config),
    )
