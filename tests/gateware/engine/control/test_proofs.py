"""Proofs about descriptors: what is passed on is sound, whatever a list holds."""

from pathlib import Path

import pytest

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.control import sequencer
from kiwicha.gateware.engine.control.command_unit import CommandUnit
from kiwicha.gateware.engine.control.job_check import JobCheck
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.sequencer import Sequencer
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from tests.gateware.engine.control import proof_lists
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
