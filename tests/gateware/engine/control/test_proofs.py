"""Proofs about descriptors: what is passed on is sound, whatever a list holds."""

from pathlib import Path

import pytest

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.control import counters, sequencer
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.counters import Counters
from kiwicha.gateware.engine.control.job_check import JobCheck
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from tests.gateware.engine.control import proof_counters, proof_lists
from tests.support.choices import by_day
from tests.support.gateware.mutants import mutant
from tests.support.gateware.proof import prove

pytestmark = pytest.mark.synth
SCRATCHPAD_BYTES = 65536
BOUNDED_CYCLES = 12
SEQUENCER_MUTANTS = {
    "an end before quiet": ("is_complete & self.is_quiet)", "is_complete)"),
    "an end before completion": ("is_complete & self.is_quiet)", "self.is_quiet)"),
    "an end before all transfers": (
        "self.transfers_done == self.lists.list.transfers",
        "self.transfers_done >= 0",
    ),
    "a reset while DRAM owes words": ("with m.If(self.memory_is_idle):", "with m.If(1):"),
    "no halt": (
        'with m.State("STOP"):\n                m.d.comb += self.halt.eq(1)',
        'with m.State("STOP"):\n                m.d.comb += self.halt.eq(0)',
    ),
    "an error that is passed over": (
        'self._notes_error(m, has_expired)):\n                    m.next = "STOP"',
        'self._notes_error(m, has_expired)):\n                    m.next = "RUN"',
    ),
}
COUNTER_MUTANTS = {
    "no more than 27 bits": ("count.eq(count + 1)", "count.eq((count + 1)[:27])"),
    "all events": ("m.Elif(self.events[counter])", "m.Elif(self.events.any())"),
    "not cleared": ("m.d.sync += count.eq(0)", "m.d.sync += count.eq(count)"),
    "the total before": ("counts[EngineCounter.TOTAL]", "counts[EngineCounter.TOTAL] >> 1"),
    "another job's end": ("stored.addr.eq(self.read.job)", "stored.addr.eq(self.read.job ^ 512)"),
    "more jobs than there is room for": ("self.job_number < MAX_JOBS", "self.job_number < 4096"),
    "ends without a bit": ("write.data.eq(self.total)", "write.data.eq(self.total[:24])"),
}


def prove_counters(component: Counters, folder: Path) -> None:
    rules = proof_counters.counters(component)
    prove(component, rules, folder, steps=3, is_inductive=True)


def test_counters_count_their_events(tmp_path: Path) -> None:
    """It holds for ever."""
    prove_counters(Counters(), tmp_path)


@pytest.mark.parametrize("name", by_day(*COUNTER_MUTANTS))
def test_counters_that_count_otherwise_are_found(tmp_path: Path, name: str) -> None:
    with pytest.raises(SimulationError):
        prove_counters(mutant(counters, *COUNTER_MUTANTS[name]).Counters(), tmp_path)


def test_transfers_that_are_not_refused_are_sound(tmp_path: Path) -> None:
    """It holds for ever."""
    component = TransferFetcher(scratchpad_bytes=SCRATCHPAD_BYTES)
    rules = proof_lists.transfer_fetcher(component)
    prove(component, rules, tmp_path, steps=2, is_inductive=True)


@pytest.mark.parametrize(("macs", "has_softmax"), [(64, False), (128, True)])
def test_jobs_that_are_not_refused_are_sound(tmp_path: Path, macs: int, has_softmax: bool) -> None:
    """A descriptor is six words: these cycles are all there is to it."""
    component = JobCheck(scratchpad_bytes=SCRATCHPAD_BYTES, macs=macs, has_softmax=has_softmax)
    prove(component, proof_lists.job_check(component), tmp_path, steps=8)


@pytest.mark.parametrize(
    "options", [{}, {"has_depthwise": True}, {"is_preemptible": True}], ids=["", "unit", "pauses"]
)
def test_lists_end_quietly(tmp_path: Path, options: dict[str, bool]) -> None:
    """It holds for ever."""
    component = Sequencer(**options)
    prove(component, proof_lists.sequencer(component), tmp_path, steps=4, is_inductive=True)


@pytest.mark.parametrize("name", SEQUENCER_MUTANTS)
def test_the_proof_of_lists_sees(tmp_path: Path, name: str) -> None:
    component = mutant(sequencer, *SEQUENCER_MUTANTS[name]).Sequencer()
    with pytest.raises(SimulationError, match=r"^not proven: the proof failed "):
        prove(component, proof_lists.sequencer(component), tmp_path, steps=4, is_inductive=True)


@pytest.mark.parametrize("is_preemptible", [False, True])
def test_windows_change_between_lists(tmp_path: Path, is_preemptible: bool) -> None:
    """It holds for ever."""
    component = CommandUnit(is_preemptible=is_preemptible)
    prove(component, proof_lists.command_unit(component), tmp_path, steps=2, is_inductive=True)


@pytest.mark.nightly
def test_fetched_jobs_are_sound_in_the_first_cycles(tmp_path: Path) -> None:
    component = JobFetcher(scratchpad_bytes=SCRATCHPAD_BYTES, macs=64, has_codec=True)
    prove(component, proof_lists.job_fetcher(component), tmp_path, steps=BOUNDED_CYCLES)
