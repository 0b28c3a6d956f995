"""Layers on the CPU: their kernel calls for one configuration, and what these cost."""

import dataclasses
from collections.abc import Callable, Set
from typing import Any

from kiwicha.compiler.cpu.calls import KernelCall
from kiwicha.compiler.cpu.choice import choose
from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.configs import Config
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Where
from kiwicha.kernels.kernel import Call
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.program.parts import Step

__all__ = ["choose_kernels", "layer_cycles"]


def choose_kernels(network: Network, config: Config, on_engine: Set[int]) -> tuple[KernelCall, ...]:
    """Return the kernel calls of the CPU, in order of execution.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        What it will run on.
    on_engine : set of int
        Positions of the layers that the engine computes.
    """
    calls: list[KernelCall] = []
    for position, layer in enumerate(network.layers):
        if position not in on_engine:
            calls += _kernel_calls(position, layer, config)
    for call in calls:
        assert isinstance(call.params, KERNEL_PARAMS[call.kernel])
        assert config.has_simd or call.kernel.where is not Where.SIMD
        assert call.kernel.where is not Where.ENGINE
    return tuple(calls)


def layer_cycles(network: Network, config: Config) -> Callable[[int], int]:
    """Return a function that predicts the cycles of a layer on the CPU, by its position."""

    def predict(position: int) -> int:
        calls = _kernel_calls(position, network.layers[position], config)
        steps = (Step(call.kernel, position, _sized(call, network)) for call in calls)
        return sum(cpu_cycles(step, has_signal=config.has_signal) for step in steps)

    return predict


def _sized(call: KernelCall, network: Network) -> Any:
    """Return a call's parameters with the sizes of what they refer to, which is nowhere yet."""
    sizes = {name: network.tensors[index].stored_bytes for name, index in call.tensors.items()}
    sizes |= {name: count for name, (_, count) in call.ranges.items()}
    sizes |= {name: values.nbytes for name, values in call.constants.items()}
    return dataclasses.replace(call.params, **{name: Ref(0, size) for name, size in sizes.items()})


def _kernel_calls(position: int, layer: Layer, config: Config) -> list[KernelCall]:
    calls = []
    for call in layer.calls:
        assert call.kernel is not None
        chosen = choose(Call(call.kernel, call.params, call.constants), config)
        calls.append(
            KernelCall(
                layer=position,
                kernel=chosen.kernel,
                params=chosen.params,
                tensors=call.tensors,
                constants=chosen.constants,
                scratch_bytes=chosen.scratch_bytes,
                ranges=call.ranges,
            )
        )
    return calls
