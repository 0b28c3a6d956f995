"""What each job and each transfer of a list writes, as the reference executor tells it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["PartObserver", "Written"]


@dataclass(frozen=True, eq=False)
class Written:
    """Bytes that a job or a transfer has written.

    Parameters
    ----------
    is_transfer : bool
        A transfer wrote them, else a job.
    number : int
        Its number in the list.
    in_arena : bool
        They lie in the arena, else in the scratchpad.
    addresses : int64 [bytes]
        Where, in any order, each once; from the start of arena or scratchpad.
    values : uint8 [bytes]
        What is there then. Bytes that are not defined are not among them.
    """

    is_transfer: bool
    number: int
    in_arena: bool
    addresses: NDArray[np.int64]
    values: NDArray[np.uint8]


PartObserver = Callable[[Written], None]
"""Called after each job and each transfer of a list, in the order of their execution."""
