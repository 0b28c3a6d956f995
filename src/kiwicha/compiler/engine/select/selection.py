"""Which layers the engine can compute, and in which forms."""

from collections.abc import Callable, Mapping, Set

from kiwicha.compiler.engine.ir.layers import EngineLayer
from kiwicha.compiler.engine.select.channel_blocks import block_layers
from kiwicha.compiler.engine.select.legalize import engine_layer
from kiwicha.compiler.engine.select.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.wide_groups import split_by_width
from kiwicha.compiler.lower.network import Network
from kiwicha.contract.cfu import Config

__all__ = ["Forms", "select", "without"]

Forms = Mapping[int, tuple[EngineLayer, ...]]
"""Layers in the engine's terms, by position, in all ways that they have, the fastest first."""


def select(
    network: Network, config: Config, *, has_tables: bool, cpu_cycles: Callable[[int], float]
) -> Forms:
    """Return the layers that the engine can compute.

    Parameters
    ----------
    network : Network
        The model.
    config : Config
        What it will run on.
    has_tables : bool
        The engine does element-wise jobs.
    cpu_cycles : callable
        Gives what a layer takes on the CPU, by its position: what needs a job for each block of
        channels must be faster.
    """
    found = {
        position: _forms(network, position, config, has_tables, cpu_cycles)
        for position in range(len(network.layers))
    }
    return {position: forms for position, forms in found.items() if forms}


def without(forms: Forms, refused: Set[int]) -> Forms:
    """Return the layers, those of ``refused`` in their next form, or not at all if there is none.

    Parameters
    ----------
    forms : mapping of int to tuple of EngineLayer
        From `select`.
    refused : set of int
        Positions of layers whose first form cannot be computed where it is.
    """
    assert refused <= set(forms)
    rest = {position: ways[position in refused :] for position, ways in forms.items()}
    return {position: ways for position, ways in rest.items() if ways}


def _forms(
    network: Network,
    position: int,
    config: Config,
    has_tables: bool,
    cpu_cycles: Callable[[int], float],
) -> tuple[EngineLayer, ...]:
    forms: list[EngineLayer] = []
    layer = engine_layer(network, position, has_tables=has_tables)
    if layer is not None:
        whole = packed_if_faster(layer, config.engine_macs, config.requantizer_cycles)
        split = split_by_width(whole, config)
        forms = [whole] if split is None else [split, whole]
    fastest = forms[0] if forms else None
    return (*block_layers(network, position, config, fastest, cpu_cycles), *forms)
