"""Operations for tests: any numbers where a test says nothing about them."""

from typing import Any

import numpy as np

from kiwicha.compiler.engine.ir.element_operations import Addition
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.region import Region
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    MaxPooling,
)
from kiwicha.program.weight_streams import Parameters

__all__ = ["addition", "chain", "convolution", "depthwise", "max_pooling", "pointwise", "region"]


def _shared(position: int, window: Window, outputs: int) -> dict[str, Any]:
    return {
        "position": position,
        "inputs": (position,),
        "output": position + 1,
        "window": window,
        "output_channels": outputs,
        "clamp": (-128, 127),
        "parameters": Parameters(*np.ones((3, outputs), np.int32)),
        "output_zero_point": 4,
    }


def convolution(position: int, window: Window, outputs: int, **fields: Any) -> Convolution:
    """Give a convolution that reads tensor ``position`` and writes the next one."""
    shape = (outputs, window.kernel_rows, window.kernel_columns, window.channels)
    weights = np.random.default_rng(position).integers(-128, 128, shape, np.int16)
    shared = _shared(position, window, outputs) | {"input_zero_point": -3, "weights": weights}
    return Convolution(**(shared | fields))


def depthwise(position: int, window: Window, **fields: Any) -> DepthwiseConvolution:
    """Give a depthwise convolution that reads tensor ``position`` and writes the next one."""
    shape = (window.kernel_rows, window.kernel_columns, window.channels)
    weights = np.random.default_rng(position).integers(-128, 128, shape, np.int16)
    shared = _shared(position, window, window.channels)
    shared |= {"input_zero_point": -3, "weights": weights}
    return DepthwiseConvolution(**(shared | fields))


def max_pooling(position: int, window: Window) -> MaxPooling:
    """Give maxima that read tensor ``position`` and write the next one."""
    return MaxPooling(**_shared(position, window, window.channels))


def addition(
    position: int, inputs: tuple[int, int], window: Window, *, is_by_channel: bool = False
) -> Addition:
    """Give a sum of two tensors that writes tensor ``position`` + 1."""
    shared = _shared(position, window, window.channels)
    shared |= {"inputs": inputs, "parameters": Parameters(*np.ones((3, 1), np.int32))}
    shared["is_by_channel"] = is_by_channel
    return Addition(**shared, tables=np.zeros((256, 2), np.int32))


def pointwise(position: int, rows: int, columns: int, channels: int, outputs: int) -> Convolution:
    """Give a convolution of 1 x 1 weights."""
    return convolution(position, Window.of_pixels(rows, columns, channels), outputs)


def region(*operations: Operation, loads: set[int], stores: set[int]) -> Region:
    """Give a region of operations."""
    return Region(operations, frozenset(loads), frozenset(stores))


def chain(*operations: Operation) -> Region:
    """Give a region that loads its first input and stores its last output."""
    return region(*operations, loads={operations[0].inputs[0]}, stores={operations[-1].output})
