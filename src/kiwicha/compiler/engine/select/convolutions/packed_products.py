"""Convolutions with two products per multiplier: which ones are faster so."""

import dataclasses

import numpy as np

from kiwicha.compiler.engine.codegen.streams import (
    group_channels,
    group_count,
    group_words,
    stream_bytes,
)
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import LINE_BYTES, PACKED_MACS, PACKED_WEIGHT_LIMIT, outputs_of

__all__ = ["packed_if_faster"]


def packed_if_faster(operation: JobOperation, config: Config) -> JobOperation:
    """Return an operation with packed products if it can have them and is faster with them.

    Parameters
    ----------
    operation : JobOperation
        The operation.
    config : Config
        With an engine.
    """
    if config.engine_macs != PACKED_MACS or not isinstance(operation, Convolution):
        return operation
    if (np.abs(operation.weights) > PACKED_WEIGHT_LIMIT).any():
        return operation
    packed = dataclasses.replace(operation, is_packed=True)
    return packed if _cycles(packed, config) < _cycles(operation, config) else operation


def _cycles(operation: Convolution, config: Config) -> int:
    """Return the cycles of a convolution without the gaps between groups."""
    macs, pitch = config.engine_macs, padded(operation.window.channels)
    words, groups = group_words(operation, macs, pitch), group_count(operation, macs)
    interval = group_channels(operation, macs) // outputs_of(macs)
    interval *= (2 if operation.is_wide else 1) * config.requantizer_cycles
    fill = stream_bytes(operation, macs, pitch) // groups // LINE_BYTES
    return groups * max(operation.window.output_pixels * max(words, interval), fill)
