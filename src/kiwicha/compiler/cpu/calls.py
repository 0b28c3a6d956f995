"""A call of a C kernel: what the CPU does for a layer, or for a part of one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kiwicha.compiler.lower.network import Values
from kiwicha.contract.program import Kernel
from kiwicha.kernels.registry import KERNELS

__all__ = ["KernelCall"]


@dataclass(frozen=True, eq=False)
class KernelCall:
    """One call of a kernel on the CPU.

    Parameters
    ----------
    layer : int
        Position of the layer it belongs to.
    kernel : Kernel
        What is called.
    params : Struct
        Its parameters, all references still empty.
    tensors : mapping of str to int
        Reference fields of ``params`` that hold tensors of the network.
    constants : mapping of str to array
        Reference fields of ``params`` that hold constants, in the order the kernel wants.
    scratch_bytes : int
        Working memory.
    ranges : mapping of str to (int, int)
        Of tensors that are not meant as a whole: first byte and number of bytes.
    """

    layer: int
    kernel: Kernel
    params: Any
    tensors: Mapping[str, int]
    constants: Mapping[str, Values]
    scratch_bytes: int = 0
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def position(self) -> int:
        """Position of the layer in whose place it comes: its own."""
        return self.layer

    @property
    def layers(self) -> tuple[int, ...]:
        """Positions of the layers that it computes: one."""
        return (self.layer,)

    @property
    def reads(self) -> frozenset[int]:
        """Tensors that it reads, constants too."""
        return frozenset(index for name, index in self.tensors.items() if name != "output")

    @property
    def writes(self) -> frozenset[int]:
        """Tensors that it writes."""
        written = {"output", *KERNELS[self.kernel].states}
        return frozenset(index for name, index in self.tensors.items() if name in written)
