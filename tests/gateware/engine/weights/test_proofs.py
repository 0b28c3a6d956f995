"""A proof about the loader of weights: for all streams that are stored as they are, for ever."""

from pathlib import Path

import pytest

from kiwicha.gateware.engine.weights.weight_loader import WeightLoader
from tests.gateware.engine.weights import proof_weights
from tests.support.gateware.proof import prove


@pytest.mark.synth
@pytest.mark.parametrize("is_resident", [False, True])
def test_jobs_groups_beats_and_words_belong_together(is_resident: bool, tmp_path: Path) -> None:
    component = WeightLoader(macs=64, has_codec=False, is_resident=is_resident)
    rules = proof_weights.raw_loader(component)
    prove(component, rules, tmp_path, steps=2, is_inductive=True)
