"""Proofs about streams, FIFOs and addresses: for all inputs, not only those of a bench.

Bounded ones say in how many cycles after a reset they hold; the others hold for ever.
"""

import functools
from pathlib import Path
from typing import Any

import pytest
from amaranth import Module
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.control.job_check import JobCheck
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from kiwicha.gateware.engine.memory.dma_reader import DmaReader
from kiwicha.gateware.engine.memory.dma_writer import DmaWriter
from kiwicha.gateware.engine.memory.memory_port import MemoryPort
from kiwicha.gateware.engine.memory.protection import ProtectionRanges
from kiwicha.gateware.engine.memory.transfer_unit import TransferUnit
from kiwicha.gateware.engine.weights.weight_loader import WeightLoader
from tests.gateware.engine.control import proof_lists
from tests.gateware.engine.memory import proof_dma
from tests.gateware.engine.weights import proof_weights
from tests.support.gateware.proof import prove

pytestmark = pytest.mark.synth
SCRATCHPAD_BYTES = 65536
BOUNDED_CYCLES = 12


@pytest.mark.parametrize(
    ("make", "rules", "steps"),
    [
        pytest.param(DmaReader, proof_dma.reader, 3, id="reader"),
        pytest.param(DmaWriter, proof_dma.writer, 3, id="writer"),
        pytest.param(
            functools.partial(MemoryPort, readers=2), proof_dma.memory_port, 3, id="memory-port"
        ),
        pytest.param(
            functools.partial(ProtectionRanges, clients=2), proof_dma.ranges, 4, id="ranges"
        ),
        pytest.param(
            functools.partial(TransferFetcher, scratchpad_bytes=SCRATCHPAD_BYTES),
            proof_lists.transfer_fetcher,
            2,
            id="transfer-fetcher",
        ),
        pytest.param(TransferUnit, proof_lists.transfer_unit, 2, id="transfer-unit"),
        pytest.param(
            functools.partial(WeightLoader, macs=64, has_codec=False),
            proof_weights.raw_loader,
            2,
            id="weight-loader",
        ),
    ],
)
def test_holds_for_ever(tmp_path: Path, make: Any, rules: Any, steps: int) -> None:
    component = make()
    prove(component, rules(component), tmp_path, steps=steps, is_inductive=True)


@pytest.mark.parametrize("macs", [64, 128])
def test_jobs_that_are_not_refused_are_sound(tmp_path: Path, macs: int) -> None:
    """A descriptor is five words: these cycles are all there is to it."""
    component = JobCheck(scratchpad_bytes=SCRATCHPAD_BYTES, macs=macs)
    prove(component, proof_lists.job_check(component), tmp_path, steps=8)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "rules"),
    [
        pytest.param(functools.partial(DmaReader, depth=8), proof_dma.reader_payloads, id="reader"),
        pytest.param(functools.partial(DmaWriter, depth=8), proof_dma.writer_payloads, id="writer"),
        pytest.param(
            functools.partial(
                JobFetcher, scratchpad_bytes=SCRATCHPAD_BYTES, macs=64, has_codec=True
            ),
            proof_lists.job_fetcher,
            id="job-fetcher",
        ),
    ],
)
def test_holds_in_the_first_cycles(tmp_path: Path, make: Any, rules: Any) -> None:
    component = make()
    prove(component, rules(component), tmp_path, steps=BOUNDED_CYCLES)


@pytest.mark.nightly
def test_every_client_of_the_engine_stays_in_the_ranges(tmp_path: Path) -> None:
    component = ProtectionRanges(clients=4)
    prove(component, proof_dma.ranges(component), tmp_path, steps=5, is_inductive=True)


class _Counter(wiring.Component):
    """Count to nine while enabled."""

    def __init__(self) -> None:
        super().__init__({"enable": In(1), "count": Out(4)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        with m.If(self.enable & (self.count != 9)):
            m.d.sync += self.count.eq(self.count + 1)
        return m


def _stays_below(component: _Counter, limit: int) -> Any:
    def rules(m: Module, submodules: Any) -> None:
        m.d.comb += Assert(component.count < limit)

    return rules


@pytest.mark.parametrize(
    ("limit", "steps", "is_inductive", "is_proven"),
    [
        (10, 2, True, True),
        (9, 5, False, True),
        (9, 11, False, False),
        (9, 2, True, False),
        # True, but 12 does not follow from 11, which is never reached.
        (12, 2, True, False),
    ],
)
def test_what_is_not_so_is_not_proven(
    tmp_path: Path, limit: int, steps: int, is_inductive: bool, is_proven: bool
) -> None:
    component = _Counter()
    rules = _stays_below(component, limit)
    if is_proven:
        prove(component, rules, tmp_path, steps=steps, is_inductive=is_inductive)
        return
    with pytest.raises(SimulationError, match=r"^not proven: the proof failed "):
        prove(component, rules, tmp_path, steps=steps, is_inductive=is_inductive)
