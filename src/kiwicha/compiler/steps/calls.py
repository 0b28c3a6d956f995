"""What becomes a step of the Program: calls of kernels on the CPU, and of lists of the engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from kiwicha.compiler.cpu.calls import KernelCall
from kiwicha.compiler.engine.ir.engine_list import EngineList
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel

__all__ = ["ListCall", "PlannedStep", "in_order"]


@dataclass(frozen=True, eq=False)
class ListCall:
    """One start of the engine, which then works on a list.

    Parameters
    ----------
    engine_list : EngineList
        What the engine does.
    config : Config
        What it will run on.
    overlapped_steps : int
        How many of the calls behind it run on the CPU meanwhile.
    """

    kernel: ClassVar[Kernel] = Kernel.ENGINE
    scratch_bytes: ClassVar[int] = 0

    engine_list: EngineList
    config: Config
    overlapped_steps: int = 0

    @property
    def layer(self) -> int:
        """Position of the first layer that it computes."""
        return self.engine_list.region.first_layer

    @property
    def layers(self) -> tuple[int, ...]:
        """Positions of all layers that it computes."""
        return self.engine_list.region.positions

    @cached_property
    def tensors(self) -> Mapping[str, int]:
        """Tensors in the arena that it reads or writes."""
        return {f"arena {tensor}": tensor for tensor in self.engine_list.arena_tensors}

    @property
    def reads(self) -> frozenset[int]:
        """Tensors that it reads and others wrote."""
        region = self.engine_list.region
        return region.loads - region.constants.keys()

    @property
    def writes(self) -> frozenset[int]:
        """Tensors that it writes and others read."""
        return self.engine_list.region.written

    @property
    def params(self) -> EngineCall:
        """Its parameters in the Program, the reference to its list still empty."""
        return EngineCall(
            image=Ref(),
            job_count=len(self.engine_list.jobs),
            transfer_count=len(self.engine_list.transfers),
            macs=self.config.engine_macs,
            scratchpad_bytes=self.config.scratchpad_bytes,
            overlapped_steps=self.overlapped_steps,
        )


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
        Lists of the engine.
    config : Config
        What they will run on.
    """
    calls: list[PlannedStep] = [*kernel_calls, *(ListCall(item, config) for item in lists)]
    layers = [layer for call in calls if isinstance(call, ListCall) for layer in call.layers]
    assert len(set(layers)) == len(layers), "a layer is in two lists"
    assert not {call.layer for call in calls if isinstance(call, KernelCall)} & set(layers)
    return tuple(sorted(calls, key=lambda call: call.layer))
