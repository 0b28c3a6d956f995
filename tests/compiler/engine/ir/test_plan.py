"""What the jobs of a plan read, and where."""

import dataclasses

import pytest

from kiwicha.compiler import compile_stages
from kiwicha.compiler.engine.ir.plan import Job
from kiwicha.contract import cfu, configs
from kiwicha.contract.engine import ELEMENT_KINDS
from kiwicha.sim.reference.engine_elements import element_reads
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
