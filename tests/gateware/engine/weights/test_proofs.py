"""A proof about the loader of weights: for all streams that are stored as they are, for ever."""

from pathlib import Path

import pytest

from kiwicha.gateware.engine.weights.weight_loader import WeightLoader
from tests.gateware.engine.weights import proof_weights
from tests.support.gateware.proof import prove


@pytest.mark.synth
def test_jobs_groups_beats_and_words_belong_together(tmp_path: Path) -> None:
    component = WeightLoader(macs=64, has_codec=False)
    rules = proof_weights.raw_loader(component)
    prove(component, rules, tmp_path, steps=2, is_inductive=True)
