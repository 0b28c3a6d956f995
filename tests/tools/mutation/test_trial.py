"""Mutants and their tests, of a module that is known."""

from pathlib import Path

import pytest

from kiwicha.gateware.engine.memory import dma_reader
from kiwicha.numerics import integers
from tools.mutation.__main__ import main
from tools.mutation.equivalence import is_equivalent
from tools.mutation.targets import TARGETS
from tools.mutation.trial import Result, check_tests, try_mutant

INTEGERS = TARGETS["numerics.integers"]
READER = TARGETS["gateware.engine.memory.dma_reader"]


@pytest.mark.nightly
def test_tests_see_a_fault_and_not_a_comment() -> None:
    source = Path(integers.__file__).read_text()
    seconds = check_tests(INTEGERS)
    assert try_mutant(INTEGERS, f"{source}\n# The same.\n", seconds) == Result.SURVIVED
    broken = source.replace("np.abs(a) // np.abs(b)", "np.abs(a)")
    assert broken != source
    assert try_mutant(INTEGERS, broken, seconds) == Result.KILLED
    assert try_mutant(INTEGERS, "import nothing_of_this_name", seconds) == Result.BROKEN


@pytest.mark.nightly
@pytest.mark.synth
def test_netlists_that_compute_the_same_are_equivalent() -> None:
    source = Path(dma_reader.__file__).read_text()
    asks = "asks.eq(commands.valid & commands.ready)"
    same = source.replace(asks, "asks.eq(~(~commands.valid | ~commands.ready))")
    other = source.replace(asks, "asks.eq(commands.valid | commands.ready)")
    assert source not in {same, other}
    assert is_equivalent(READER, same)
    assert not is_equivalent(READER, other)


def test_modules_are_known(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["numerics.nothing"])
    assert "MODULE must be one of " in capsys.readouterr().err
