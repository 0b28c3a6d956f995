"""What the jobs of a plan read, and where."""

import dataclasses
from typing import Any

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.element_operations import RowAddition
from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.plan import (
    MAX_REGION_JOBS,
    BufferAddress,
    Compute,
    Job,
    PartOfRows,
    Plan,
    PlannedCascade,
    Transfer,
)
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.memory.placement import Buffer
from kiwicha.contract import cfu, configs
from kiwicha.contract.engine import ELEMENT_KINDS, MAX_JOBS
from kiwicha.sim.reference.engine_elements import element_reads
from tests.compiler.engine.build import addition, chain, pointwise
from tests.support.models import random_networks

SMALL = ((64, 1), (32, 2), (64, 8))
"""Products per cycle and KiB of scratchpad of engines that work in stripes."""
ODD_SEEDS = (25, 30, 37, 104)
"""Networks in which a stripe ends within a beat, at the end of its buffer."""


@pytest.mark.parametrize("seed", ODD_SEEDS)
def test_buffers_hold_the_beats_that_elements_are_read_in(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = random_networks.engine_network(seed)
    behind_tensors = 0
    for macs, kib in SMALL:
        config = dataclasses.replace(
            configs.ENGINE_CONFIGS[str(macs)], name=f"{macs}-{kib}", scratchpad_bytes=kib * 1024
        )
        for known in (configs.ENGINE_CONFIGS, configs.ALL_CONFIGS):
            monkeypatch.setitem(known, config.name, config)
        for found in compile_stages(case.model, config.name, has_tables=True).lists:
            plan = found.plan
            computed = [event for event in plan.events if isinstance(event, Job)]
            for event, job in zip(computed, found.jobs, strict=True):
                if job.kind not in ELEMENT_KINDS:
                    continue
                for address, (start, end) in zip(
                    event.inputs, element_reads(job, macs), strict=True
                ):
                    first, buffer = plan.offsets[address.buffer], plan.buffers[address.buffer]
                    assert first <= start
                    assert end <= first + buffer.aligned_bytes
                    behind_tensors += end % cfu.ALIGNMENT_BYTES not in {0, 8}
    assert behind_tensors


POINTS = pointwise(0, 4, 3, 8, 8)


def compute(operation: JobOperation, **fields: Any) -> Compute:
    """Return a job for rows 1 and 2 of an operation, of which row 0 is there, too."""
    shared: dict[str, Any] = {
        "inputs": tuple(BufferAddress(number, 16 * number) for number in range(2)),
        "input_pitch": operation.window.channels,
        "first_input_row": 0,
        "input_rows": 3,
        "output": BufferAddress(2, 48),
        "output_pitch": 8,
        "first_output_row": 1,
        "output_rows": 2,
        "output_row_bytes": 24,
    }
    return Compute(operation=operation, **(shared | fields))


def plan(**fields: Any) -> Plan:
    """Return a plan of a transfer and a job, in 64 bytes of the scratchpad."""
    shared: dict[str, Any] = {
        "region": chain(POINTS),
        "cascades": (PlannedCascade((0,), 1),),
        "streamed": (0,),
        "passed": (5,),
        "events": (Transfer(0, 0, 32, BufferAddress(0), False), compute(POINTS)),
        "waits": (0, 1),
        "buffers": (Buffer("", 32, 0, 1), Buffer("", 24, 0, 1)),
        "offsets": (0, 32),
    }
    return Plan(**(shared | fields))


def test_a_region_has_up_to_16_lists() -> None:
    assert MAX_REGION_JOBS == 16 * MAX_JOBS


def test_plans_fill_the_scratchpad() -> None:
    plan().verify(64)
    assert plan().scratchpad_bytes == 64
    assert plan(buffers=(), offsets=()).scratchpad_bytes == 0
    with pytest.raises(AssertionError):
        plan().verify(63)


@pytest.mark.parametrize(
    "fields",
    [
        {"offsets": (0, 40)},
        {"waits": (0,)},
        {"waits": (0, 1, 1)},
        {"cascades": (PlannedCascade((0,), 2),)},
        {"cascades": ()},
        {"passed": (5, 0)},
    ],
)
def test_numbers_of_plans_agree(fields: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        plan(**fields).verify(1024)


def test_events_use_buffers() -> None:
    load = Transfer(0, 0, 32, BufferAddress(3), False)
    store = dataclasses.replace(load, is_store=True)
    assert (load.reads, load.writes) == (set(), {3})
    assert (store.reads, store.writes) == ({3}, set())
    job = compute(POINTS, columns=range(1, 3), part=PartOfRows(1, 2, 16))
    assert (job.reads, job.writes) == ({0, 1}, {2})
    geometry = job.geometry((1000, 2000, 3000))
    assert (geometry.input_addresses, geometry.output_address) == ((1000, 2016), 3048)
    assert not geometry.is_by_rows
    for field in dataclasses.fields(geometry):
        if field.name not in {"input_addresses", "output_address", "is_by_rows"}:
            assert getattr(geometry, field.name) == getattr(job, field.name)


def test_elements_are_read_in_whole_beats() -> None:
    """Rows 1 and 2 of 3 columns of 5 channels, from the first byte of row 0 on."""
    window = Window.of_pixels(4, 3, 5)
    flat, by_channel = (
        addition(0, (0, 1), window, is_by_channel=is_by_channel) for is_by_channel in (False, True)
    )
    assert compute(POINTS).read_ends == []
    places = [BufferAddress(0), BufferAddress(1, 16)]
    # 15 bytes of row 0, then 30 of two rows, in beats of 8 bytes.
    ends = [15 + 32, 16 + 15 + 32]
    assert compute(flat).read_ends == list(zip(places, ends, strict=True))
    # The last pixel is read as a whole word; of the other operand there is one.
    ends = [15 + 30 + 3, 16 + 8]
    assert compute(by_channel).read_ends == list(zip(places, ends, strict=True))
    fields = {field.name: getattr(flat, field.name) for field in dataclasses.fields(flat)}
    assert compute(RowAddition(**fields, rows=(1, 2))).read_ends == []
