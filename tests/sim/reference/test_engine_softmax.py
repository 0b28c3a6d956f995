"""The reference's SOFTMAX jobs against their definition, and the jobs that it refuses."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from kiwicha.contract.engine import EngineJob, JobFlag, JobKind, SumFlag
from kiwicha.errors import ProgramError
from kiwicha.program.weight_streams import Parameters, pack_tables
from kiwicha.sim.reference.engine_jobs import check_kind, execute_job, read_ranges, written_range
from kiwicha.sim.reference.scratchpad import Scratchpad
from tests.gateware.engine.softmax_jobs import (
    Softmax,
    distances,
    exponentials,
    random_softmax,
    softmax_job,
)

SIZE = 8192
ROWS = Softmax(3, 10, (13, 11), exponentials(0.1))
LOGARITHMS = dataclasses.replace(ROWS, zero_point=-1, distances=distances(0.1))


def executed(job: EngineJob, softmax: Softmax, macs: int) -> tuple[np.ndarray, Scratchpad]:
    """Return the bytes before a job, and the scratchpad behind it; all inputs are written."""
    scratchpad = Scratchpad(SIZE)
    scratchpad.bytes[:] = np.random.default_rng(1).integers(0, 256, SIZE)
    scratchpad.is_written[: SIZE // 2] = True
    before = scratchpad.bytes.copy()
    parameters = Parameters(*(np.zeros(1, np.int32) for _ in range(3)))
    second = np.full(256, -1, np.int32) if softmax.distances is None else softmax.distances
    tables = np.stack([softmax.table, second], axis=1)
    check_kind(job)
    execute_job(job, pack_tables(tables, parameters, macs), macs, scratchpad)
    return before, scratchpad


@pytest.mark.parametrize("macs", [32, 64, 128, 256])
@pytest.mark.parametrize("seed", range(10))
def test_rows_of_any_pitch(macs: int, seed: int) -> None:
    softmax = random_softmax(np.random.default_rng(seed), 1000)
    source, target = 101 + seed, SIZE // 2 + 7 * seed
    job = softmax_job(softmax, source, target, macs)
    expected, scratchpad = executed(job, softmax, macs)
    softmax.apply(expected, source, target)
    assert (scratchpad.bytes == expected).all()
    assert read_ranges(job, macs) == [(source, source + softmax.sizes[0])]
    assert written_range(job, macs) == (target, target + softmax.sizes[1])
    last = target + (softmax.rows - 1) * softmax.pitches[1]
    assert scratchpad.is_written[last : last + softmax.depth].all()
    gap = softmax.pitches[1] - softmax.depth
    assert not scratchpad.is_written[last - gap : last].any() or softmax.rows == 1


def test_a_result_can_replace_its_row() -> None:
    softmax = dataclasses.replace(ROWS, pitches=(13, 13))
    expected, scratchpad = executed(softmax_job(softmax, 99, 99, 64), softmax, 64)
    softmax.apply(expected, 99, 99)
    assert (scratchpad.bytes == expected).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"segment_words": 0}, "rows of 1 to 4095 elements"),
        (
            {"segment_words": 4096, "output_rows": 1, "first_address": 0, "output_address": 4096},
            "rows of 1 to 4095 elements",
        ),
        ({"output_zero_point": 1}, "a zero point of 0 or -128, not 10 and 1"),
        ({"groups": 2}, "one group with the size of the tables"),
        ({"group_words": 1}, "one group with the size of the tables"),
        ({"flags": JobFlag.WIDE, "interval": 2}, "flags of a softmax must be CODED and LOGARITHMS"),
        ({"kind": JobKind.TABLE, "flags": JobFlag.LOGARITHMS}, "kind and flags must be known"),
        ({"sums": SumFlag.KEEP}, "sums must be known"),
        ({"row_step": 9}, "rows of a softmax must not overlap"),
        ({"output_row_step": 9}, "rows of a softmax must not overlap"),
        ({"first_address": SIZE // 2}, "must be written before"),
        ({"output_address": 105}, "must not write what it reads"),
        ({"output_row_step": SIZE}, "must lie in a scratchpad of 8192"),
    ],
)
def test_refuses_jobs(changes: dict[str, Any], message: str) -> None:
    job = softmax_job(ROWS, 99, SIZE // 2, 64)
    if "first_address" in changes:
        changes = {"output_address": 0} | changes
    with pytest.raises(ProgramError, match=message):
        executed(dataclasses.replace(job, **changes), ROWS, 64)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"zero_point": -128}, "a zero point of 127 or -1, not 10 and -128"),
        ({"distances": np.full(256, -1, np.int32)}, "distances of a softmax must be 0 to"),
        ({"distances": np.full(256, 2**30 + 1, np.int32)}, "distances of a softmax must be 0 to"),
    ],
)
def test_refuses_logarithms(wrong: dict[str, Any], message: str) -> None:
    softmax = dataclasses.replace(LOGARITHMS, **wrong)
    with pytest.raises(ProgramError, match=message):
        executed(softmax_job(softmax, 99, SIZE // 2, 64), softmax, 64)
