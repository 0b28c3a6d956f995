"""What the array leaves to the depthwise unit."""

import dataclasses

import pytest

from kiwicha.compiler.engine.cost.unit_work import array_shares, line_writes, stolen_shares
from kiwicha.contract.engine import EngineJob, JobFlag, JobKind, SumFlag

CONV = dataclasses.replace(
    EngineJob.unpack(bytes(EngineJob.size_bytes())),
    kind=JobKind.CONV,
    flags=JobFlag.PACKED,
    output_address=64,
    output_pixel_bytes=32,
    output_row_step=32,
    group_output_step=16,
    segment_words=1,
    row_words=1,
    kernel_rows=1,
    segments=1,
    column_step=8,
)


@pytest.mark.parametrize(
    ("macs", "changes", "expected"),
    [
        (128, {}, 50.0),
        # Beats that fill no line, or come apart.
        (128, {"output_address": 72}, 100.0),
        (128, {"output_pixel_bytes": 24}, 100.0),
        (128, {"flags": 0}, 100.0),
        (128, {"flags": JobFlag.PACKED | JobFlag.WIDE}, 100.0),
        # Sums that stay are not written.
        (128, {"sums": SumFlag.KEEP}, 0.0),
        # Units that share the requantizer.
        (64, {}, 100.0),
        (256, {}, 100.0),
    ],
)
def test_two_beats_of_a_line_are_one_write(
    macs: int, changes: dict[str, int], expected: float
) -> None:
    assert line_writes(dataclasses.replace(CONV, **changes), 100.0, macs) == expected


def test_reads_are_left_where_the_unit_has_its_own() -> None:
    for macs, reads in ((64, 0.5), (128, 1.0), (256, 1.0)):
        shares = array_shares(CONV, 200, 50.0, macs)
        assert (shares.reads, shares.results) == (reads, 0.75)
    assert stolen_shares(64).reads == 0.0
    assert stolen_shares(128).reads == 1.0
    assert stolen_shares(128).results == 0.0
