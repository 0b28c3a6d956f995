"""The record that declares a kernel."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import Kernel

__all__ = ["Call", "Cost", "Declaration", "Memory", "Work"]


class Memory(Protocol):
    """What a reference function reads, and writes if its output has gaps."""

    def load(self, ref: Ref, dtype: DTypeLike, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return the tensor at a reference."""

    def gather(self, ref: Ref, offsets: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the bytes at offsets from the start of a reference."""

    def scatter(self, ref: Ref, offsets: NDArray[np.int64], values: NDArray[np.uint8]) -> None:
        """Write bytes at offsets from the start of a reference."""


@dataclass(frozen=True)
class Work:
    """What a step does, in the numbers that its cycles depend on.

    Parameters
    ----------
    outputs : int
        Elements of its output; rows of ARG_MAX; groups of SIMD_FULLY_CONNECTED, of four pixels or
        one; cycles of RESIZE_BILINEAR; sums of SIGNAL_OVERLAP_ADD.
    units : int
        Multiply-accumulates of convolutions, elements that pools and reductions read, rows of
        element-wise kernels, SOFTMAX and LOG_SOFTMAX, bytes of long rows of ARG_MAX, pieces that
        COPY moves, samples that SIGNAL_FRAMES keeps and SIGNAL_OVERLAP_ADD copies.
    extra : int
        Kernel positions that portable convolutions visit, bytes of windows that SIMD_CONV copies,
        multiply-accumulates of pixels that SIMD kernels compute singly, batches of portable
        FULLY_CONNECTED, other bytes of ARG_MAX, outputs of long rows of SOFTMAX and LOG_SOFTMAX,
        divisions, indices.
    """

    outputs: int
    units: int = 0
    extra: int = 0


@dataclass(frozen=True)
class Cost:
    """Cycles of a kernel beside an engine: for a step, and for each of its `Work`.

    ``nox -s costs`` measures them on the simulated system; ``cold``, what a step takes more behind
    a long step of another kernel, was measured behind an LSTM and convolutions.
    """

    step: float
    output: float
    unit: float = 0
    extra: float = 0
    cold: float = 0


@dataclass(frozen=True, eq=False)
class Call:
    """A kernel with its parameters and constants, before memory is allocated.

    Parameters
    ----------
    kernel : Kernel
        What is called.
    params : Struct
        Its parameters, all references still empty.
    constants : mapping of str to array
        Reference fields of ``params`` that hold constants, in the order the kernel wants.
    scratch_bytes : int
        Working memory.
    """

    kernel: Kernel
    params: Any
    constants: Mapping[str, NDArray[Any]]
    scratch_bytes: int = 0


def _always(params: Any) -> bool:
    return True


def _never(params: Any) -> bool:
    return False


def _unchanged(call: Call) -> Call:
    return call


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """A kernel: what it takes, what it computes, when it is chosen and how long it takes.

    Parameters
    ----------
    kernel : Kernel
        Its number in a Program. Its name, in lower case, is that of the C function
        ``kiwicha_run_...``.
    params : type of Struct
        Its parameters; C sees the same structure.
    check : str
        Name of the C function ``kiwicha_check_...`` that its parameters must pass. By default that
        of the kernel.
    reference : callable or None
        Returns the output as bytes or numbers, given memory and parameters: bit for bit what the C
        function computes. None for kernels that executors treat in ways of their own, and where it
        is that of the first one that the kernel replaces.
    writes_output : bool
        The reference writes the output itself, because it has gaps.
    is_in_place : bool
        The output may be the memory of an input: element n depends on elements n alone.
    may_slide : callable
        Whether, with these parameters, the output may begin before an input and end within it.
    is_on_demand : bool
        Firmware has it only for Programs that call it: on-chip memory cannot hold every kernel.
    optional : tuple of str
        References that may have no bytes.
    states : tuple of str
        References to what it keeps between calls: it reads and writes them.
    tables : tuple of str
        References to small constants of which a step reads what its inputs decide: the data cache
        gets them while the engine works, in this order.
    cost, work : Cost and callable, or None
        What a step takes, and what it does, given its parameters. None for the engine. A kernel
        that replaces another can leave its work out, too.
    signal_cost : Cost or None
        What a step takes instead where instructions of the unit for frames of sound are part of it.
    replaces : tuple of Kernel
        The kernels that compute the same; this one is faster.
    condition : callable
        Whether it can compute what one of them would, given the call.
    prepare : callable
        Returns its own call, with its blocking, its order of constants and its working memory,
        given theirs. `choose` sets the kernel.
    """

    kernel: Kernel
    params: type[Struct]
    check: str = ""
    reference: Callable[[Memory, Any], NDArray[Any]] | None = None
    writes_output: bool = False
    is_in_place: bool = False
    may_slide: Callable[[Any], bool] = _never
    is_on_demand: bool = False
    optional: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    cost: Cost | None = None
    signal_cost: Cost | None = None
    work: Callable[[Any], Work] | None = None
    replaces: tuple[Kernel, ...] = ()
    condition: Callable[[Call], bool] = _always
    prepare: Callable[[Call], Call] = _unchanged

    def cost_with(self, *, has_signal: bool) -> Cost | None:
        """Return what a step takes with or without the unit for frames of sound."""
        return (self.signal_cost if has_signal else None) or self.cost

    @property
    def c_name(self) -> str:
        """What the C function is called after ``kiwicha_run_``."""
        return self.kernel.name.lower()

    @property
    def c_check(self) -> str:
        """What the C function is called after ``kiwicha_check_``."""
        return self.check or self.c_name
