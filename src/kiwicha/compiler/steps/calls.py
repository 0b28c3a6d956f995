"""What becomes a step of the Program: calls of kernels on the CPU, and of lists of the engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from kiwicha.compiler.cpu.calls import KernelCall
from kiwicha.compiler.engine.ir.engine_list import EngineList, ListPart
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import ComputedListCall, EngineCall
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel

__all__ = ["ListCall", "PlannedStep", "in_order"]


@dataclass(frozen=True, eq=False)
class ListCall:
    """One start of the engine, which then works on a list.

    Parameters
    ----------
    part : ListPart
        What the engine does.
    config : Config
        What it will run on.
    overlapped_steps : int
        How many of the calls behind it run on the CPU meanwhile.
    """

    scratch_bytes: ClassVar[int] = 0

    part: ListPart
    config: Config
    overlapped_steps: int = 0

    @property
    def kernel(self) -> Kernel:
        """What the firmware calls."""
        return Kernel.COMPUTED_LIST if self.part.whole.computed_bytes else Kernel.ENGINE

    @property
    def layer(self) -> int:
        """Position of the layer that those of its jobs are counted from."""
        return self.part.whole.region.first_layer

    @property
    def position(self) -> int:
        """Position of the layer in whose place it comes."""
        return self.part.whole.region.position

    @property
    def layers(self) -> tuple[int, ...]:
        """Positions of all layers of its region."""
        return self.part.whole.region.positions

    @cached_property
    def tensors(self) -> Mapping[str, int]:
        """Tensors in the arena that lists of its region read or write."""
        images = self.part.whole.image_tensors
        found = (tensor for tensor in self.part.whole.arena_tensors if tensor not in images)
        return {f"arena {tensor}": tensor for tensor in found}

    @property
    def images(self) -> Mapping[int, int]:
        """Lists in the arena that they are or write, and their bytes: no tensors of the network."""
        return self.part.whole.image_tensors

    @property
    def reads(self) -> frozenset[int]:
        """Tensors that they read and others wrote."""
        region = self.part.whole.region
        return region.loads - region.constants.keys()

    @property
    def writes(self) -> frozenset[int]:
        """Tensors that they write and others read."""
        return self.part.whole.region.written - self.images.keys()

    @property
    def params(self) -> EngineCall:
        """Its parameters in the Program, the references to its list still empty."""
        call = EngineCall(
            image=Ref(),
            job_count=len(self.part.jobs),
            transfer_count=len(self.part.transfers),
            macs=self.config.engine_macs,
            scratchpad_bytes=self._scratchpad_bytes,
            overlapped_steps=self.overlapped_steps,
            goes_on=int(self.part.goes_on),
            is_resident=int(bool(self.part.whole.again)),
        )
        if self.kernel is Kernel.ENGINE:
            return call
        return ComputedListCall(**vars(call), computed=Ref())

    @property
    def _scratchpad_bytes(self) -> int:
        """Bytes of the scratchpad that the list may use: others keep theirs where it can stop."""
        used = self.part.whole.scratchpad_bytes
        return used if self.config.is_preemptible else self.config.scratchpad_bytes


PlannedStep = KernelCall | ListCall
"""What becomes one step of the Program."""


def in_order(
    kernel_calls: Iterable[KernelCall], lists: Sequence[EngineList], config: Config
) -> tuple[PlannedStep, ...]:
    """Return the calls of CPU and engine in the order of the network's layers.

    Parameters
    ----------
    kernel_calls : iterable of KernelCall
        Calls of the CPU, in order.
    lists : sequence of EngineList
        Lists of the engine; those of a region stay together. A layer can be in several, which are
        in order.
    config : Config
        What they will run on.
    """
    parts = (part for item in lists for part in item.parts)
    calls: list[PlannedStep] = [*kernel_calls, *(ListCall(part, config) for part in parts)]
    layers = {layer for item in lists for layer in item.region.positions}
    assert not {call.layer for call in calls if isinstance(call, KernelCall)} & layers
    return tuple(sorted(calls, key=lambda call: call.position))
