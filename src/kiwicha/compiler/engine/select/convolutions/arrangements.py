"""Other orders of a convolution's inputs and outputs, in which fewer lanes of the array idle."""

import dataclasses
from collections.abc import Iterator

from kiwicha.compiler.engine.ir.operations import (
    ComputeOperation,
    DividedOperation,
    OperationSequence,
)
from kiwicha.compiler.engine.ir.selection import Candidate
from kiwicha.compiler.engine.ir.window import padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.schedule.estimates.operation_costs import (
    move_cycles,
    operation_cycles,
)
from kiwicha.compiler.engine.select.convolutions.chunks import is_long
from kiwicha.compiler.engine.select.convolutions.joined_rows import joined_rows
from kiwicha.compiler.engine.select.convolutions.packed_products import packed_if_faster
from kiwicha.compiler.engine.select.convolutions.pixel_pairs import in_pixel_pairs
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import INPUT_LANES, has_packed

__all__ = ["arranged"]

_PAIRS = "two pixels at a time"
_ROWS = "with joined rows"
_SMALL = 4
"""Images that take less than such a part of the scratchpad stay there beside others."""
_LARGE_IMAGES = 1.28
"""By what moves count as slower that are made stripe by stripe, beside transfers."""


def arranged(operation: Convolution, config: Config) -> Iterator[Candidate]:
    """Yield a convolution in the fastest other order, if one is faster.

    Parameters
    ----------
    operation : Convolution
        The convolution.
    config : Config
        With an engine.
    """
    if is_long(operation):
        return
    channels = operation.window.channels
    plain = operation_cycles(operation, config, channels)
    found: list[tuple[float, Candidate]] = []
    pairs = _in_pairs(operation, config)
    # What they read may have gaps between pixels.
    pitches = (channels, padded(channels))
    if pairs is not None and all(_gains(pairs, operation, config, pitch) for pitch in pitches):
        found.append((operation_cycles(pairs, config, channels), Candidate(_PAIRS, pairs)))
    for move, whole in joined_rows(operation) if channels < INPUT_LANES else ():
        size = operation.window.input_pixels * channels + move.output_image.bytes
        weight = _LARGE_IMAGES if _SMALL * size > config.scratchpad_bytes else 1.0
        rows = packed_if_faster(whole, config)
        forms = ((_ROWS, rows), (f"{_ROWS}, {_PAIRS}", _in_pairs(whole, config)))
        for name, form in forms:
            if form is None or is_long(rows):
                continue
            sequence = OperationSequence.of([move, form])
            cycles = move_cycles(move) + operation_cycles(form, config, whole.window.channels)
            found.append((weight * cycles, Candidate(name, sequence)))
    faster = [(cycles, candidate) for cycles, candidate in found if cycles < plain]
    if faster:
        yield min(faster, key=lambda item: item[0])[1]


def _in_pairs(operation: Convolution, config: Config) -> DividedOperation | None:
    """Return a convolution in pairs of pixels, for an engine of 16 outputs; None if it has none."""
    found = in_pixel_pairs(operation) if has_packed(config.engine_macs) else None
    if found is None or any(is_long(part) for part in found.job_operations):
        return None
    pieces = (
        dataclasses.replace(piece, operation=packed_if_faster(piece.operation, config))
        for piece in found.pieces
    )
    return dataclasses.replace(found, pieces=tuple(pieces))


def _gains(
    pairs: ComputeOperation, operation: ComputeOperation, config: Config, pitch: int
) -> bool:
    cycles = (operation_cycles(form, config, pitch) for form in (pairs, operation))
    return next(cycles) < next(cycles)
