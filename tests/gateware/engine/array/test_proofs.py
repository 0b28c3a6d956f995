"""A proof about the memory of sums, which the synthesis for ECP5 counts on: for ever."""

from pathlib import Path

import pytest

from kiwicha.errors import SimulationError
from kiwicha.gateware.engine.array import sum_memory
from kiwicha.gateware.engine.array.sum_memory import SumMemory
from tests.gateware.engine.array import proof_sum_memory
from tests.support.gateware.mutants import mutant
from tests.support.gateware.proof import prove

pytestmark = pytest.mark.synth
LANES = 8
"""Of the engine with 64 products per cycle, as that with 32."""


def test_no_beat_is_read_in_the_cycle_that_writes_it(tmp_path: Path) -> None:
    component = SumMemory(lanes=LANES)
    prove(component, proof_sum_memory.sum_memory(component), tmp_path, steps=3, is_inductive=True)


def test_the_proof_sees_a_write_that_is_late(tmp_path: Path) -> None:
    module = mutant(sum_memory, "number_s2.eq(number_s1)", "number_s2.eq(number_s1 + 3)")
    component = module.SumMemory(lanes=LANES)
    with pytest.raises(SimulationError, match=r"^not proven: the proof failed "):
        prove(component, proof_sum_memory.sum_memory(component), tmp_path, steps=4)
