"""Element-wise engine jobs for the benches: descriptors and weight streams."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.engine import (
    INPUT_LANES,
    PAIR_KINDS,
    SQUARE_INTERVAL,
    TABLE_ENTRIES,
    TABLE_KINDS,
    EngineJob,
    JobFlag,
    JobKind,
    last_unit_of,
    outputs_of,
)
from tests.gateware.engine.window_jobs import Fill, parameter_beats
from tests.support.gateware.engine_fields import pack

__all__ = ["element_fills", "element_job"]

Ints = NDArray[np.int64]
_BLOCK = 4
"""Channels whose parameters come together."""


def element_fills(macs: int, parameters: Ints, tables: Ints | None) -> list[Fill]:
    """Return the weight stream of an element-wise job, group by group.

    Parameters
    ----------
    macs : int
        Products per cycle.
    parameters : integers [3, groups, outputs]
        Bias, multiplier and shift.
    tables : integers [2, 256] or None
        Of ADD and TABLE, by unsigned byte.
    """
    outputs = outputs_of(macs)
    if tables is None:
        words = [0] * (INPUT_LANES * outputs // 16)
    else:
        words = [
            pack([int(v) for v in tables[:, x : x + 2].T.reshape(-1)], 32)
            for x in range(0, TABLE_ENTRIES, 2)
        ]
    return [
        Fill(
            outputs // _BLOCK,
            _group_words(outputs, has_tables=tables is not None),
            is_table=tables is not None,
            beats=parameter_beats(group) + words,
        )
        for group in parameters.transpose(1, 0, 2)
    ]


def _group_words(outputs: int, *, has_tables: bool) -> int:
    """Return the size of two tables of int32, in weight words, or one word."""
    return TABLE_ENTRIES * 8 // (INPUT_LANES * outputs) if has_tables else 1


def element_job(
    kind: JobKind,
    macs: int,
    inputs: Sequence[tuple[int, int]],
    output_address: int,
    results: int,
    *,
    pitches: tuple[int, int],
    groups: int,
    last_values: int,
    has_one_pixel: bool,
    is_wide: bool,
    is_square: bool,
    output_zero_point: int,
    clamp: tuple[int, int],
) -> EngineJob:
    """Return the descriptor of an ADD, TABLE or MUL.

    Parameters
    ----------
    kind : JobKind
        Which of them.
    macs : int
        Products per cycle.
    inputs : sequence of (int, int)
        Address and zero point of the first and the second tensor, or of the only one.
    output_address : int
        A multiple of 8.
    results : int
        Of a group.
    pitches : (int, int)
        From one result of a group to the next, of the input and of the output.
    groups : int
        Groups of channels; 0 if results lie behind each other, without channels.
    last_values : int
        Of the last group, or of the last result, the bytes that are written.
    has_one_pixel : bool
        The second tensor has one pixel.
    is_wide, is_square, output_zero_point, clamp
        As in `EngineJob`.
    """
    outputs = outputs_of(macs)
    (address, zero_point), (address_2, zero_point_2) = inputs[0], inputs[-1]
    flags = JobFlag.WIDE if is_wide else JobFlag(0)
    flags |= JobFlag.CHANNELS if has_one_pixel else JobFlag(0)
    flags |= JobFlag.SQUARE if is_square else JobFlag(0)
    is_slow = kind in PAIR_KINDS or is_wide
    fields = {name: 0 for name, _, _ in EngineJob.layout()}
    fields |= {
        "kind": kind,
        "flags": flags,
        "interval": SQUARE_INTERVAL if is_square else 2 if is_slow else 1,
        "groups": max(groups, 1),
        "group_words": _group_words(outputs, has_tables=kind in TABLE_KINDS),
        "first_address": address,
        "input_2_address": address_2,
        "output_address": output_address,
        "segment_words": results,
        "column_step": pitches[0],
        "output_pixel_bytes": pitches[1],
        "group_input_step": outputs if groups else 0,
        "group_output_step": outputs if groups else 0,
        "last_beats": -(-last_values // last_unit_of(macs)),
        "input_zero_point": zero_point,
        "weight_zero_point": zero_point_2,
        "output_zero_point": output_zero_point,
        "activation_min": clamp[0],
        "activation_max": clamp[1],
    }
    return EngineJob(**fields)
