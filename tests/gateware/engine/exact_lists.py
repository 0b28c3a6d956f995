"""Lists whose results show each bit of what is computed in between.

Most results are bytes, in which rounding hides the lower bits of sums, scales and terms. Here every
number lies at the threshold between two results, or is small because two large ones cancel.
"""

import dataclasses
from functools import partial

import numpy as np

from kiwicha.contract.engine import (
    FUSED_BITS,
    FUSED_FRACTION_BITS,
    TABLE_ENTRIES,
    JobFlag,
    JobKind,
    SumFlag,
    outputs_of,
)
from kiwicha.numerics import requantization as numerics
from tests.gateware.engine.campaign import Round
from tests.gateware.engine.element_jobs import element_fills, element_job
from tests.gateware.engine.random_lists import Case
from tests.gateware.engine.window_jobs import Layer, fills, job_of
from tests.gateware.engine.work_list import work_list
from tests.gateware.engine.works import Bytes, Ints, Work

__all__ = ["exact_lists"]

_UNLIMITED_CYCLES = 10_000_000
_ONE = (1 << 30, 1)
"""Multiplier and shift of a scale of 1."""
_OCTETS = np.arange(TABLE_ENTRIES, dtype=np.uint8).view(np.int8).astype(np.int64)


def exact_lists(macs: int, *, count: int, seed: int) -> list[Case]:
    """Return lists of each sort, by turns.

    Parameters
    ----------
    macs : int
        Products per cycle.
    count : int
        Of each sort.
    seed : int
        Of what is drawn.
    """
    rng = np.random.default_rng(seed)
    found = []
    for number in range(count):
        found.append(_listed(rng, macs, [_thresholds(rng, macs, is_wide=number % 2 == 0)]))
        found.append(_listed(rng, macs, _kept(rng, macs)))
        found.append(_listed(rng, macs, _fused(rng, macs)))
    return found


def _listed(rng: np.random.Generator, macs: int, works: list[Work]) -> Case:
    """Return a list of jobs that read every byte in every lane, at the scratchpad's start."""
    count = _bytes(macs)
    octets = np.concatenate([
        np.repeat(rng.permutation(TABLE_ENTRIES), outputs_of(macs)).astype(np.uint8)
    ])
    memory = np.concatenate([octets, octets, octets])
    made = work_list(works, macs, 3 * count, [False] * len(works))
    arena = memory.tobytes() + rng.bytes(3 * count)
    return Case(made, Round(made.image, arena, made.counts, _UNLIMITED_CYCLES), 3 * count)


def _bytes(macs: int) -> int:
    """Of a tensor with each byte in each lane."""
    return TABLE_ENTRIES * outputs_of(macs)


def _table_work(
    macs: int,
    table: Ints,
    parameters: Ints,
    *,
    is_wide: bool,
    sums: SumFlag = SumFlag.NONE,
    results: Ints | None = None,
) -> Work:
    """Return a TABLE from the first tensor to the second.

    Parameters
    ----------
    macs : int
    table : int64 [256]
        By unsigned byte.
    parameters : int64 [3]
        Bias, multiplier and shift of all channels.
    is_wide : bool
    sums : SumFlag
    results : int64 [256] or None
        What it writes for each byte; else nothing.
    """
    outputs, size = outputs_of(macs), _bytes(macs)
    job = element_job(
        JobKind.TABLE,
        macs,
        [(0, 0)],
        size,
        TABLE_ENTRIES,
        pitches=(outputs, outputs),
        groups=0,
        last_values=outputs,
        has_one_pixel=False,
        is_wide=is_wide,
        is_square=False,
        output_zero_point=0,
        clamp=(-128, 127),
    )
    channels = np.broadcast_to(parameters[:, None, None], (3, 1, outputs))
    tables = np.array([table, np.zeros_like(table)])

    def apply(memory: Bytes) -> None:
        if results is not None:
            memory[size : 2 * size] = results[memory[:size]].astype(np.int8).view(np.uint8)

    target = range(size, 2 * size) if results is not None else range(0)
    return Work(
        dataclasses.replace(job, sums=sums),
        element_fills(macs, channels, tables),
        [range(size)],
        target,
        apply,
    )


def _thresholds(rng: np.random.Generator, macs: int, *, is_wide: bool) -> Work:
    """Return a TABLE of the sums from which on results are one more, and those before them."""
    multiplier = int(rng.integers(1 << 30, 1 << 31))
    bits = 31 if is_wide else 24
    shift = 8 - bits
    limit = (1 << bits) - 1

    def results_of(sums: Ints) -> Ints:
        scaled = numerics.requantize(sums, np.int64(multiplier), np.int64(shift), 0, -128, 127)
        return np.asarray(scaled, np.int64)

    first, last = np.full(TABLE_ENTRIES // 2, -limit), np.full(TABLE_ENTRIES // 2, limit)
    wanted = np.arange(TABLE_ENTRIES // 2) - TABLE_ENTRIES // 4
    while (first < last).any():
        middle = (first + last) >> 1
        is_there = results_of(middle) >= wanted
        first, last = np.where(is_there, first, middle + 1), np.where(is_there, middle, last)
    table = np.stack([first, first - 1], 1).reshape(-1)
    parameters = np.array([0, multiplier, shift])
    return _table_work(macs, table, parameters, is_wide=is_wide, results=results_of(table))


def _kept(rng: np.random.Generator, macs: int) -> list[Work]:
    """Return two TABLEs, of which the second takes away again what the first one leaves."""
    limit = (1 << 31) - (1 << 12)
    left = rng.integers(-limit, limit, TABLE_ENTRIES)
    bias = int(rng.integers(-1000, 1000))
    keeps = _table_work(macs, left, np.array([bias, *_ONE]), is_wide=True, sums=SumFlag.KEEP)
    adds = _table_work(
        macs,
        _OCTETS - left - bias,
        np.array([0, *_ONE]),
        is_wide=True,
        sums=SumFlag.CONTINUE,
        results=_OCTETS,
    )
    return [keeps, adds]


def _fused(rng: np.random.Generator, macs: int) -> list[Work]:
    """Return an ADD whose tables cancel but for a byte or a little less, and a CONV behind it."""
    outputs, size = outputs_of(macs), _bytes(macs)
    limit = (1 << FUSED_BITS - 1) - (1 << 22)
    second = rng.integers(-limit, limit, TABLE_ENTRIES)
    less = rng.integers(2, size=TABLE_ENTRIES)
    tables = np.array([(_OCTETS << FUSED_FRACTION_BITS) - less - second, second])
    job = element_job(
        JobKind.ADD,
        macs,
        [(0, 0), (0, 0)],
        0,
        1,
        pitches=(outputs, outputs),
        groups=0,
        last_values=outputs,
        has_one_pixel=False,
        is_wide=True,
        is_square=False,
        output_zero_point=0,
        clamp=(-128, 127),
    )
    unused = np.zeros((3, 1, outputs), np.int64)
    brings = Work(
        dataclasses.replace(job, flags=job.flags | JobFlag.FUSED),
        element_fills(macs, unused, tables),
        [],
        range(0),
        lambda memory: None,
    )
    layer = _copying(macs)
    conv = dataclasses.replace(
        job_of(layer, 0, size),
        interval=8,
        flags=layer.flags | JobFlag.FUSED,
        input_2_address=size,
    )
    results = (_OCTETS - less).clip(-128, 127)
    target = range(size, 2 * size)
    change = partial(_write, size, results)
    return [brings, Work(conv, fills(layer), [range(3 * size)], target, change)]


def _write(size: int, results: Ints, memory: Bytes) -> None:
    memory[size : 2 * size] = results[memory[:size]].astype(np.int8).view(np.uint8)


def _copying(macs: int) -> Layer:
    """Return a layer whose outputs are its inputs: each byte in each lane."""
    outputs = outputs_of(macs)
    return Layer(
        macs=macs,
        is_depthwise=False,
        rows=16,
        columns=TABLE_ENTRIES // 16,
        input_pitch=outputs,
        output_pitch=outputs,
        stride=(1, 1),
        dilation=(1, 1),
        pads=(0, 0),
        output_rows=16,
        output_columns=TABLE_ENTRIES // 16,
        weights=np.eye(outputs, dtype=np.int64)[:, None, None, :],
        parameters=np.broadcast_to(np.array([0, *_ONE])[:, None], (3, outputs)).copy(),
        input_zero_point=0,
        weight_zero_point=0,
        is_unsigned=False,
        output_zero_point=0,
        clamp=(-128, 127),
        is_wide=False,
    )
