"""Which layers the engine does, and in which runs."""

from collections.abc import Callable, Mapping, Set

from kiwicha.compiler.engine.ir.layers import EngineLayer
from kiwicha.compiler.engine.ir.run import DoesNotFitError, Run, TooLongError, TooSlowError
from kiwicha.compiler.engine.schedule.schedule import Schedule, schedule
from kiwicha.compiler.engine.select.channel_blocks import block_layers
from kiwicha.compiler.engine.select.legalize import engine_layer
from kiwicha.compiler.engine.select.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.table_composition import compose_tables
from kiwicha.compiler.engine.select.wide_groups import split_by_width
from kiwicha.compiler.lower.network import Network
from kiwicha.contract.cfu import Config

__all__ = ["partition"]


def partition(
    network: Network,
    config: Config,
    *,
    has_tables: bool = False,
    cpu_cycles: Callable[[int], float] | None = None,
) -> list[Schedule]:
    """Return the runs of the engine, in order; all other layers are for the CPU.

    A run ends at a layer of the CPU, where one tensor becomes part of another, or where its list
    would have too many jobs or cycles. A layer that the engine could do stays with the CPU if it
    does not fit the scratchpad, if it alone takes longer than a list may, or if pixels with padding
    between them would meet somebody who wants them dense.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        What it will run on.
    has_tables : bool
        The engine does element-wise jobs.
    cpu_cycles : callable, optional
        Gives what a layer takes on the CPU, by its position: what needs a job for each block of
        channels must be faster.
    """
    layers: dict[int, EngineLayer] = {}
    # What is next best, where that does not fit.
    others: dict[int, list[EngineLayer]] = {}
    for position in range(len(network.layers)):
        choices = _choices(network, position, config, has_tables, cpu_cycles)
        if choices:
            layers[position], *others[position] = choices
    composed = compose_tables(network, layers)
    cuts: set[int] = set()
    known: dict[tuple[object, ...], Schedule] = {}
    while True:
        runs = _runs(network, composed, cuts)
        refused = {layer.position for run in runs for layer in _padding_troubles(run)}
        schedules = []
        cut_before = len(cuts)
        if not refused:
            for run in runs:
                # Most runs are what they were before another one was cut.
                key = run.layers, run.loads, run.stores
                try:
                    if key not in known:
                        known[key] = schedule(
                            run,
                            config.engine_macs,
                            config.scratchpad_bytes,
                            config.requantizer_cycles,
                        )
                    schedules.append(known[key])
                except (DoesNotFitError, TooSlowError) as error:
                    refused.add(error.position)
                except TooLongError as error:
                    cuts.update(error.positions)
        if not refused and len(cuts) == cut_before:
            return schedules
        if refused:
            layers = {p: layer for p, layer in layers.items() if p not in refused}
            layers |= {p: others[p].pop(0) for p in refused if others.get(p)}
            composed = compose_tables(network, layers)


def _choices(
    network: Network,
    position: int,
    config: Config,
    has_tables: bool,
    cpu_cycles: Callable[[int], float] | None,
) -> list[EngineLayer]:
    """Return a layer in the engine's terms in all ways that it has, the fastest first."""
    choices: list[EngineLayer] = []
    layer = engine_layer(network, position, has_tables=has_tables)
    if layer is not None:
        whole = packed_if_faster(layer, config.engine_macs, config.requantizer_cycles)
        split = split_by_width(whole, config)
        choices = [whole] if split is None else [split, whole]
    if cpu_cycles is not None:
        fastest = choices[0] if choices else None
        choices = [*block_layers(network, position, config, fastest, cpu_cycles), *choices]
    return choices


def _runs(network: Network, layers: Mapping[int, EngineLayer], cuts: Set[int]) -> list[Run]:
    groups: list[list[EngineLayer]] = [[]]
    merged = {position for layer in layers.values() for position in layer.merged}
    for position, layer in enumerate(network.layers):
        if position in cuts:
            groups.append([])
        if position in layers:
            groups[-1].append(layers[position])
        elif position not in merged and (layer.kernel is not None or layer.is_shared):
            groups.append([])
    return [_run(network, members) for members in groups if members]


def _run(network: Network, members: list[EngineLayer]) -> Run:
    written = {layer.output for layer in members}
    read = {tensor for layer in members for tensor in layer.inputs}
    inside = {position for layer in members for position in layer.positions}
    wanted = {*network.outputs, *network.shared}
    for position, layer in enumerate(network.layers):
        for call in layer.calls if position not in inside else ():
            wanted |= {tensor for name, tensor in call.tensors.items() if name != "output"}
    return Run(tuple(members), frozenset(read - written), frozenset(written & wanted))


def _padding_troubles(run: Run) -> list[EngineLayer]:
    """Return layers that cannot stay in the run because of bytes between pixels."""
    troubles = []
    producers = run.producers
    for layer in run.layers:
        inputs = [tensor for tensor in layer.inputs if tensor not in layer.whole_inputs]
        pitches = {_pitch(run, producers, tensor, layer) for tensor in inputs}
        if len(pitches) > 1:
            troubles.append(layer)
        if not run.is_padded(layer):
            continue
        readers = [reader for reader in run.layers if layer.output in reader.inputs]
        if layer.output in run.stores or any(
            reader.window.channels != layer.output_channels for reader in readers
        ):
            troubles.append(layer)
    return troubles


def _pitch(run: Run, producers: Mapping[int, EngineLayer], tensor: int, reader: EngineLayer) -> int:
    producer = producers.get(tensor)
    if producer is not None and run.is_padded(producer):
        return run.output_pitch(producer)
    return reader.window.channels
