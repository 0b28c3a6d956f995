"""Convolutions in parts of the kernel: which parts have jobs, and what is loaded for them."""

import math

import pytest

from kiwicha.compiler.engine.ir.plan import Compute, Plan, Transfer
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.schedule.blocks.partial_sums import partial_sums_plan
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import MAX_KEPT_SUMS, SumFlag
from tests.compiler.engine.build import chain, convolution

CONFIG = find_config("64")


def planned(rows: int, columns: int, channels: int, dilation: int) -> Plan:
    """Give the plan of a padded convolution of 3x3."""
    window = Window(
        *(rows, columns, channels, rows, columns, 3, 3),
        dilation_rows=dilation,
        dilation_columns=dilation,
        pad_top=dilation,
        pad_left=dilation,
    )
    plan = partial_sums_plan(chain(convolution(0, window, 16)), CONFIG)
    assert plan is not None
    return plan


def computes(plan: Plan) -> list[Compute]:
    """Give its jobs."""
    return [event for event in plan.events if isinstance(event, Compute)]


@pytest.mark.parametrize("dilation", [1, 6, 18])
def test_series_begin_and_end(dilation: int) -> None:
    is_open = False
    for job in computes(planned(33, 33, 320, dilation)):
        sums = job.operation.sums
        assert bool(sums & SumFlag.CONTINUE) == is_open
        is_open = bool(sums & SumFlag.KEEP)
        assert job.columns is not None
        pixels = job.output_rows * len(job.columns)
        assert pixels * job.operation.output_channels <= MAX_KEPT_SUMS
    assert not is_open


def test_parts_that_meet_padding_only_have_no_job() -> None:
    # All taps but the middle one lie outside.
    jobs = computes(planned(20, 20, 400, 20))
    rows = {job.operation.window.kernel_columns for job in jobs}
    assert rows <= {1, 3}
    assert all(job.operation.sums == SumFlag.NONE for job in jobs)


def test_what_is_loaded_lies_in_the_tensor_and_fits() -> None:
    plan = planned(33, 33, 320, 18)
    size = math.prod((33, 33, 320))
    for event in plan.events:
        if isinstance(event, Transfer) and not event.is_store:
            assert 0 <= event.tensor_offset < event.tensor_offset + event.bytes <= size
            at = plan.offsets[event.address.buffer] + event.address.offset
            assert at % 16 == event.tensor_offset % 16
            assert at + event.bytes <= CONFIG.scratchpad_bytes
