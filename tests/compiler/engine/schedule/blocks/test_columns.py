"""Blocks of columns and channels, parts of rows: what they move, and what cannot be divided."""

from collections import Counter
from typing import Any

import pytest

from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.engine.ir.plan import Compute, Plan, Transfer
from kiwicha.contract.engine import SumFlag
from kiwicha.contract.program import Where
from tests.support.models.wide_rows import wide_rows

WIDE = (9, 33, 96)


def compiled(operator: str, shape: tuple[int, int, int], **changes: Any) -> Compilation:
    return compile_stages(wide_rows(operator, shape, **changes).model, "64-8k")


def plan_of(stages: Compilation) -> Plan:
    (plan,) = stages.engine.plans
    return plan


def stored(plan: Plan) -> Counter[int]:
    """Count how often each byte of the output is stored."""
    return Counter(
        byte
        for event in plan.events
        if isinstance(event, Transfer) and event.is_store
        for byte in range(event.tensor_offset, event.tensor_offset + event.bytes)
    )


@pytest.mark.parametrize(
    ("operator", "shape", "changes"),
    [
        ("DEPTHWISE_CONV_2D", WIDE, {}),
        ("DEPTHWISE_CONV_2D", WIDE, {"dilation": 2}),
        ("MAX_POOL_2D", (7, 64, 64), {"stride": 2}),
        ("AVERAGE_POOL_2D", (15, 13, 96), {"kernel": (15, 13), "is_padded": False}),
        ("MAX_POOL_2D", (15, 13, 96), {"kernel": (15, 13), "is_padded": False}),
    ],
)
def test_every_byte_is_stored_once(
    operator: str, shape: tuple[int, int, int], changes: dict[str, Any]
) -> None:
    stages = compiled(operator, shape, **changes)
    output = stages.engine.operations[0].output
    size = stages.network.tensors[output].stored_bytes
    assert stored(plan_of(stages)) == Counter(range(size))


def test_stripes_of_a_dilated_convolution_read_no_rows_between() -> None:
    """With a dilation of 4, one stripe has rows 0, 4 and 8, and none that others have."""
    plan = plan_of(compiled("DEPTHWISE_CONV_2D", WIDE, dilation=4))
    row_bytes = 33 * 96
    rows: dict[int, set[int]] = {}
    for event in plan.events:
        if isinstance(event, Transfer) and not event.is_store:
            rows.setdefault(event.address.buffer, set()).add(event.tensor_offset // row_bytes)
    assert all(len({row % 4 for row in found}) == 1 for found in rows.values())
    assert any(len(found) == 3 for found in rows.values())
    for event in plan.events:
        if isinstance(event, Compute):
            assert event.columns is not None
            assert event.columns.step == 4


@pytest.mark.parametrize(
    ("operator", "shape", "changes"),
    [
        # Rows end within 16 bytes.
        ("DEPTHWISE_CONV_2D", (9, 65, 56), {"dilation": 2}),
        # Channels of a pixel do.
        ("MAX_POOL_2D", (15, 13, 88), {"kernel": (15, 13), "is_padded": False}),
    ],
)
def test_what_begins_within_16_bytes_is_not_divided(
    operator: str, shape: tuple[int, int, int], changes: dict[str, Any]
) -> None:
    stages = compiled(operator, shape, **changes)
    assert [layer.where for layer in stages.program.layers] != [Where.ENGINE]


def test_parts_of_rows_are_loaded_once_and_beside_a_job() -> None:
    plan = plan_of(compiled("AVERAGE_POOL_2D", (15, 13, 88), kernel=(15, 13), is_padded=False))
    loads = [e for e in plan.events if isinstance(e, Transfer) and not e.is_store]
    read = [byte for e in loads for byte in range(e.tensor_offset, e.tensor_offset + e.bytes)]
    assert read == list(range(15 * 13 * 88))
    jobs = [event.operation.sums for event in plan.events if isinstance(event, Compute)]
    keep, both = SumFlag.KEEP, SumFlag.KEEP | SumFlag.CONTINUE
    assert jobs == [keep, *[both] * (len(jobs) - 2), SumFlag.CONTINUE]
    kinds = [type(event) for event in plan.events]
    assert kinds[:3] == [Transfer, Transfer, Compute]


def test_a_dilated_layer_that_fits_has_a_job_for_each_phase() -> None:
    stages = compile_stages(wide_rows("DEPTHWISE_CONV_2D", (9, 9, 16), dilation=3).model, "64")
    (found,) = stages.lists
    assert [job.output_columns for job in found.jobs] == [3, 3, 3]
    assert {job.column_step for job in found.jobs} == {3 * 16}
    assert {job.kernel_rows * job.segments for job in found.jobs} == {9}
