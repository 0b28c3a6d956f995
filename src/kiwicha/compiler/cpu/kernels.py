"""From a `Network` to `Tile`s: the kernel and its blocking for one configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kiwicha.compiler.cpu.choice import choose
from kiwicha.compiler.cpu.costs import cpu_cycles
from kiwicha.compiler.engine.codegen.weight_coding import with_coded_streams
from kiwicha.compiler.engine.schedule.schedule import Schedule
from kiwicha.compiler.engine.select.partition import partition
from kiwicha.compiler.lower.network import Layer, Network, Values
from kiwicha.contract.cfu import Config
from kiwicha.contract.engine import EngineCall
from kiwicha.contract.goal import Goal
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, ResizeBilinear, Where
from kiwicha.errors import CapacityError
from kiwicha.kernels.kernel import Call
from kiwicha.kernels.registry import KERNEL_PARAMS
from kiwicha.program.image import Step

__all__ = ["Tile", "tile"]


@dataclass(frozen=True, eq=False)
class Tile:
    """One kernel call.

    Parameters
    ----------
    layer : int
        Position of the layer it belongs to.
    kernel : Kernel
        What is called.
    params : Struct
        Its parameters, all references still empty.
    tensors : mapping of str to int
        Reference fields of ``params`` that hold tensors of the graph.
    constants : mapping of str to array
        Reference fields of ``params`` that hold constants, in the order the kernel wants.
    scratch_bytes : int
        Working memory.
    ranges : mapping of str to (int, int)
        Of tensors that are not meant as a whole: first byte and number of bytes.
    schedule : Schedule or None
        What the engine does, for a step of the engine; ``layer`` is then its first layer.
    """

    layer: int
    kernel: Kernel
    params: Any
    tensors: Mapping[str, int]
    constants: Mapping[str, Values]
    scratch_bytes: int = 0
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    schedule: Schedule | None = None

    @property
    def layers(self) -> tuple[int, ...]:
        """Positions of all layers that the call computes."""
        if self.schedule is None:
            return (self.layer,)
        return self.schedule.run.positions


def tile(
    network: Network, config: Config, *, has_tables: bool = False, goal: Goal = Goal.CYCLES
) -> tuple[Tile, ...]:
    """Return the kernel calls of a model, in order of execution.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        What it will run on.
    has_tables : bool
        The engine does element-wise jobs.
    goal : Goal
        What counts first where weights can be coded.

    Raises
    ------
    CapacityError
        If an operator is not in the configuration's firmware.
    """

    def on_cpu(position: int) -> int:
        calls = network.layers[position].calls
        steps = (_tile(position, call, config) for call in calls)
        return sum(cpu_cycles(Step(step.kernel, position, step.params)) for step in steps)

    found: list[Schedule] = []
    if config.engine_macs:
        found = partition(network, config, has_tables=has_tables, cpu_cycles=on_cpu)
    schedules = [
        with_coded_streams(item, config.engine_macs, goal, config.requantizer_cycles)
        if config.has_codec
        else item
        for item in found
    ]
    first_layers = {item.run.layers[0].position: item for item in schedules}
    on_engine = {position for item in schedules for position in item.run.positions}
    tiles = []
    for position, layer in enumerate(network.layers):
        if position in first_layers:
            tiles.append(_engine_tile(position, first_layers[position], config))
        elif position not in on_engine:
            _require_room(layer, config)
            tiles += [_tile(position, call, config) for call in layer.calls]
    _verify(tiles, config)
    return tuple(tiles)


def _require_room(layer: Layer, config: Config) -> None:
    """Refuse what a configuration's firmware leaves out."""
    is_float = isinstance(layer.params, ResizeBilinear) and layer.params.is_float
    if is_float and not config.has_float_interpolation:
        raise CapacityError(
            f"operator {layer.operator} {layer.name} must be compiled for baseline or an engine, "
            f"not for {config.name}, whose firmware has no room for weights in float32"
        )


def _engine_tile(position: int, schedule: Schedule, config: Config) -> Tile:
    return Tile(
        position,
        Kernel.ENGINE,
        EngineCall(
            image=Ref(),
            job_count=len(schedule.jobs),
            transfer_count=len(schedule.transfers),
            macs=config.engine_macs,
            scratchpad_bytes=config.scratchpad_bytes,
            overlapped_steps=0,
        ),
        {f"arena {tensor}": tensor for tensor in schedule.arena_tensors},
        {},
        schedule=schedule,
    )


def _verify(tiles: Sequence[Tile], config: Config) -> None:
    for item in tiles:
        assert isinstance(item.params, KERNEL_PARAMS[item.kernel])
        assert config.has_simd or item.kernel.where is not Where.SIMD
        assert config.engine_macs or item.kernel.where is not Where.ENGINE


def _tile(position: int, layer: Layer, config: Config) -> Tile:
    assert layer.kernel is not None
    call = choose(Call(layer.kernel, layer.params, layer.constants), config)
    return Tile(
        position,
        call.kernel,
        call.params,
        layer.tensors,
        call.constants,
        call.scratch_bytes,
        layer.ranges,
    )
