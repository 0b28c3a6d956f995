"""Random engine jobs whose results are summands: an ADD with tables, and convolutions behind it."""

import dataclasses
from functools import partial

import numpy as np

from kiwicha.contract.engine import (
    DEEP_MACS,
    FUSED_BITS,
    FUSED_FRACTION_BITS,
    TABLE_ENTRIES,
    JobFlag,
    JobKind,
    outputs_of,
)
from tests.gateware.engine.element_jobs import element_fills, element_job
from tests.gateware.engine.random_jobs import input_of, random_layer, write
from tests.gateware.engine.window_jobs import Layer, expected_output, fills, job_of, layer_sums
from tests.gateware.engine.works import Bytes, Ints, Work, places

__all__ = ["random_fused"]

_INTERVAL = 8
"""Cycles from one result to the next, at least: enough for two beats of four bytes each, too, as
these keep twice the interval."""
_OPERATIONS = 32
"""Operations of a result where that is not enough."""


def random_fused(rng: np.random.Generator, macs: int, memory_bytes: int) -> list[Work]:
    """Return an ADD whose tables are kept, and convolutions that add by them."""
    tables = _tables(rng)
    works = [_table_work(rng, macs, tables, memory_bytes)]
    return works + [
        _convolution(rng, macs, tables, memory_bytes) for _ in range(int(rng.integers(1, 3)))
    ]


def _tables(rng: np.random.Generator) -> Ints:
    """Return what bytes of either tensor add, [2, 256]."""
    limit = 1 << (FUSED_BITS - 2)
    if rng.integers(3) == 0:
        return rng.integers(-limit, limit, (2, TABLE_ENTRIES))
    octets = np.arange(TABLE_ENTRIES, dtype=np.uint8).view(np.int8).astype(np.int64)
    scales = rng.uniform(0.2, 1.2, (2, 1)) * (1 << FUSED_FRACTION_BITS)
    noise = rng.integers(-(1 << FUSED_FRACTION_BITS), 1 << FUSED_FRACTION_BITS, (2, 1))
    return np.rint(octets * scales).astype(np.int64) + noise


def _table_work(rng: np.random.Generator, macs: int, tables: Ints, memory_bytes: int) -> Work:
    """Return the ADD, which reads from anywhere."""
    outputs = outputs_of(macs)
    address, address_2 = (int(rng.integers(memory_bytes)) for _ in range(2))
    job = element_job(
        JobKind.ADD,
        macs,
        [(address, 0), (address_2, 0)],
        int(rng.integers(memory_bytes // 8)) * 8,
        1,
        pitches=(outputs, outputs),
        groups=0,
        last_values=outputs,
        has_one_pixel=False,
        is_wide=bool(rng.integers(2)),
        is_square=False,
        output_zero_point=0,
        clamp=(-128, 127),
    )
    parameters = rng.integers(0, 30, (3, 1, outputs))
    return Work(
        dataclasses.replace(job, flags=job.flags | JobFlag.FUSED),
        element_fills(macs, parameters, tables),
        [],
        range(0),
        lambda memory: None,
    )


def _convolution(rng: np.random.Generator, macs: int, tables: Ints, memory_bytes: int) -> Work:
    """Return a CONV that adds a second tensor."""
    while True:
        layer = random_layer(rng, macs, is_depthwise=False)
        if layer is None or not _is_slow(layer):
            continue
        input_bytes = layer.rows * layer.columns * layer.input_pitch
        sizes = [input_bytes, layer.output_bytes, layer.output_bytes]
        if sum(sizes) <= memory_bytes - 64:
            break
    source, *found = places(rng, sizes, memory_bytes)
    target, second = (place.start // 8 * 8 for place in found)
    job = dataclasses.replace(
        job_of(layer, source.start, target),
        interval=_INTERVAL,
        flags=layer.flags | JobFlag.FUSED,
        input_2_address=(second - target) % (1 << 32),
    )
    return Work(
        job,
        fills(layer),
        [source, range(second, second + layer.output_bytes)],
        range(target, target + layer.output_bytes),
        partial(_apply, layer, tables, source, target, second),
    )


def _is_slow(layer: Layer) -> bool:
    """Whether sums keep pace with results."""
    if not layer.is_packed and layer.macs != DEEP_MACS:
        return True
    words = layer.kernel[0] * layer.segments * layer.segment_words
    return words >= _OPERATIONS and (layer.is_packed or layer.kernel[0] == 1)


def _apply(
    layer: Layer, tables: Ints, source: range, target: int, second: int, memory: Bytes
) -> None:
    sums = layer_sums(layer, input_of(layer, source, memory)) + layer.parameters[0]
    values = expected_output(layer, sums)
    # What is written is so wherever it is written to.
    written = [np.full_like(memory, filler) for filler in (0, 255)]
    for image in written:
        write(layer, values, target, image)
    (places,) = np.nonzero(written[0] == written[1])
    totals = tables[0][written[0][places]] + tables[1][memory[places + second - target]]
    results = (totals >> FUSED_FRACTION_BITS).clip(-128, 127)
    memory[places] = results.astype(np.int8).view(np.uint8)
