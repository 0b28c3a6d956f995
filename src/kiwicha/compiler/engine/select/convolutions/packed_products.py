"""Convolutions with two products per multiplier: which ones are faster so."""

import dataclasses

from kiwicha.compiler.engine.codegen.streams import (
    group_channels,
    group_count,
    group_words,
    stream_bytes,
)
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.window import padded, segment_shape
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.contract.configs import Config
from kiwicha.contract.depthwise import has_own_results
from kiwicha.contract.engine import (
    DEEP_GROUP_WORDS,
    DEEP_MACS,
    LINE_BYTES,
    has_packed,
    input_lanes_of,
    outputs_of,
)
from kiwicha.program.packed_weights import are_packable

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
    if not has_packed(config.engine_macs) or not isinstance(operation, Convolution):
        return operation
    if not are_packable(operation.flat_weights):
        return operation
    packed = dataclasses.replace(operation, is_packed=True)
    if config.engine_macs == DEEP_MACS and _most_words(packed, DEEP_MACS) > DEEP_GROUP_WORDS:
        return operation
    gained = _cycles(operation, config) - _cycles(packed, config)
    is_other = _leaves_lines(packed, config) or _is_shorter_in_blocks(packed, operation, config)
    return packed if gained > 0 or (gained == 0 and is_other) else operation


def _leaves_lines(packed: Convolution, config: Config) -> bool:
    """Return whether packed results take half of the writes, and leave the others to the unit."""
    return (
        config.has_depthwise
        and has_own_results(config.engine_macs)
        and packed.output_channels % LINE_BYTES == 0
    )


def _is_shorter_in_blocks(packed: Convolution, operation: Convolution, config: Config) -> bool:
    """Return whether packed weights take fewer bytes in blocks.

    A width is for four weights. They are of one channel in words of 16 inputs, but of two in words
    of 8 inputs for 16 channels.
    """
    if not config.has_blocks or config.engine_macs != DEEP_MACS:
        return False
    pitch = padded(operation.window.channels)
    sizes = [stream_bytes(item, DEEP_MACS, pitch) for item in (packed, operation)]
    return sizes[0] <= sizes[1]


def _most_words(operation: Convolution, macs: int) -> int:
    """Return the words of a group, whatever the pitch of its input will be."""
    window, lanes = operation.window, input_lanes_of(macs, operation.flags)
    pitch = padded(window.channels)
    shapes = (segment_shape(window, some, lanes) for some in (pitch, pitch + 1))
    return window.kernel_rows * max(segments * words for segments, words in shapes)


def _cycles(operation: Convolution, config: Config) -> int:
    """Return the cycles of a convolution without the gaps between groups."""
    macs, pitch = config.engine_macs, padded(operation.window.channels)
    words, groups = group_words(operation, macs, pitch), group_count(operation, macs)
    interval = group_channels(operation, macs) // outputs_of(macs)
    interval *= (2 if operation.is_wide else 1) * config.requantizer_cycles
    fill = stream_bytes(operation, macs, pitch) // groups // LINE_BYTES
    return groups * max(operation.window.output_pixels * max(words, interval), fill)
