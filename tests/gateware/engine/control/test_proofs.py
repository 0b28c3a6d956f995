"""Proofs about descriptors: what is passed on is sound, whatever a list holds."""

from pathlib import Path

import pytest

from kiwicha.gateware.engine.control.job_check import JobCheck
from kiwicha.gateware.engine.control.job_fetcher import JobFetcher
from kiwicha.gateware.engine.control.transfer_fetcher import TransferFetcher
from tests.gateware.engine.control import proof_lists
from tests.support.gateware.proof import prove

pytestmark = pytest.mark.synth
SCRATCHPAD_BYTES = 65536
BOUNDED_CYCLES = 12


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


@pytest.mark.nightly
def test_fetched_jobs_are_sound_in_the_first_cycles(tmp_path: Path) -> None:
    component = JobFetcher(scratchpad_bytes=SCRATCHPAD_BYTES, macs=64, has_codec=True)
    prove(component, proof_lists.job_fetcher(component), tmp_path, steps=BOUNDED_CYCLES)
