"""Sums of a tensor and a constant for each channel as sums of two tensors.

A job for them by channel has the same table once more for each group of channels, and every stripe
reads it again. With many channels and few pixels in a stripe that takes longer than the arithmetic.
A depthwise job with weights of 0 writes the constants to all pixels of another tensor instead; the
sum of two tensors has one table for all channels.
"""

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.element_operations import TableLookup
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.selection import Candidate
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import WeightedOperation
from kiwicha.compiler.engine.schedule.estimates.operation_costs import operation_cycles
from kiwicha.compiler.engine.select.convolutions.weighted import (
    WeightedLayer,
    depthwise_convolution,
)
from kiwicha.compiler.engine.select.elements.element_sums import tensor_sum
from kiwicha.compiler.engine.select.elements.operands import Relation, operands_of
from kiwicha.compiler.lower.network import Network
from kiwicha.compiler.optimize.byte_tables import SUMS
from kiwicha.compiler.optimize.ranges import UNIT_SCALE
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import OUTPUT_BYTES
from kiwicha.program.weight_streams import Parameters

__all__ = ["constant_sum_candidates"]


def constant_sum_candidates(
    network: Network, position: int, usual: Operation, config: Config
) -> list[Candidate]:
    """Return a layer as a sum of two tensors if that is faster, else nothing.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    usual : Operation
        The layer in one operation.
    config : Config
        With an engine.
    """
    layer = network.layers[position]
    if layer.kernel not in SUMS or not isinstance(usual, TableLookup) or not usual.is_by_channel:
        return []
    operands = operands_of(network, layer)
    if operands.relation is not Relation.CHANNELS or usual.window.channels % OUTPUT_BYTES:
        return []
    constants = internal_tensor(position, 0)
    first = _everywhere(
        position,
        (operands.full.index, constants),
        usual.window,
        operands.other.int8s().reshape(-1).astype(np.int32),
    )
    second = tensor_sum(position, operands, (operands.full.index, constants))
    cycles = sum(operation_cycles(item, config) for item in (first, second))
    if cycles >= operation_cycles(usual, config):
        return []
    return [Candidate("as a sum of two tensors", OperationSequence.of([first, second]))]


def _everywhere(
    position: int, tensors: tuple[int, int], window: Window, values: NDArray[np.int32]
) -> WeightedOperation:
    """Return what writes a value for each channel to all pixels, whatever it reads."""
    multiplier, shift = (np.full(window.channels, value, np.int32) for value in UNIT_SCALE)
    layer = WeightedLayer(
        position=position,
        input=tensors[0],
        output=tensors[1],
        window=window,
        parameters=Parameters(values, multiplier, shift),
        input_zero_point=0,
        output_zero_point=0,
        clamp=(-128, 127),
    )
    return depthwise_convolution(layer, np.zeros((1, 1, window.channels), np.int16))
