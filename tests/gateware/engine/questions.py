"""What the CPU asks an engine beside a list, and what it must answer."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import EngineCounter, EngineError, EngineOp
from kiwicha.errors import SimulationError
from tests.gateware.engine.campaign import Instruction, Outcome
from tests.gateware.engine.random_lists import Case

__all__ = ["Asked", "asked"]

_RUNS = 1 << 31
"""Of the answer of STATUS."""
_REFUSED = 1
_COUNTERS = tuple(EngineCounter)
_PEEKS = 6
_START_AND_END = 3
"""Cycles between START and its list, and between the list and the answer of WAIT."""


@dataclass(frozen=True)
class Asked(Case):
    """A list beside which the engine is asked for its state, its counters and its scratchpad.

    Parameters
    ----------
    places : tuple of int
        Words of the scratchpad that are read, and the last one is written and read again.
    written : int
        That word.
    """

    places: tuple[int, ...] = ()
    written: int = 0

    def check(self, outcome: Outcome, name: str) -> None:
        """Compare what the list left, and what was answered.

        Raises
        ------
        SimulationError
            If something differs.
        """
        super().check(outcome, name)
        problems = [*self._during(outcome), *self._after(outcome)]
        if problems:
            raise SimulationError(f"{name}: {problems[0]}")

    def _during(self, outcome: Outcome) -> Iterator[str]:
        status, *refused = outcome.during
        if not status & _RUNS:
            yield f"STATUS must say that the list runs, not {status:#x}"
        if any(answer != _REFUSED for answer in refused):
            yield f"what would change the list must be refused while it runs, not {refused}"

    def _after(self, outcome: Outcome) -> Iterator[str]:
        answers = iter(outcome.after)
        status = next(answers)
        if status != outcome.status:
            yield f"STATUS must be that of WAIT, not {status:#x}"
        total, *parts = (next(answers) for _ in _COUNTERS)
        if outcome.cycles != total + _START_AND_END:
            taken = outcome.cycles - _START_AND_END
            yield f"a list that took {taken} cycles must not count {total}"
        if sum(parts) > total or not parts[0]:
            yield f"parts of {total} cycles must not be {parts}"
        ends = [next(answers) for _ in self.made.jobs]
        if sorted(set(ends)) != ends or ends[-1] >= total:
            yield f"jobs must end one after the other in {total} cycles, not at {ends}"
        memory = np.frombuffer(self.given.arena, np.uint8)[: self.size].copy()
        self.made.apply(memory)
        words = memory.view("<u4")
        for place in self.places:
            word = next(answers)
            if word != words[place]:
                yield f"word {place} of the scratchpad must be {words[place]:#x}, not {word:#x}"
        before, written, again, neighbour = answers
        if (before, written, again) != (0, self.written, 0):
            yield f"a word that was written must be {self.written:#x}, not {written:#x}"
        if neighbour != words[self.places[-1] ^ 1]:
            yield "the word beside one that was written must stay"


def asked(case: Case, rng: np.random.Generator) -> Asked:
    """Return a good list with questions.

    Parameters
    ----------
    case : Case
        Without an error.
    rng : numpy.random.Generator
        Of the places that are read.
    """
    assert case.error == EngineError.NONE
    places = tuple(int(place) for place in rng.integers(case.size // 4, size=_PEEKS))
    written = int(rng.integers(1 << 32))
    last = 4 * places[-1]
    during: tuple[Instruction, ...] = (
        (EngineOp.STATUS, 0, 0, 0),
        (EngineOp.RANGE, 0, DRAM_BASE, 16),
        (EngineOp.RANGE, 1, DRAM_BASE, 16),
        (EngineOp.START, 0, 16, 1),
    )

    def unused() -> int:
        """Return what an instruction does not look at."""
        return int(rng.integers(1 << 32))

    after: tuple[Instruction, ...] = (
        (EngineOp.STATUS, 0, unused(), unused()),
        *((EngineOp.COUNTER, counter, unused(), unused()) for counter in _COUNTERS),
        *((EngineOp.JOB_END, 0, number, unused()) for number in range(len(case.made.jobs))),
        *((EngineOp.PEEK, 0, 4 * place, unused()) for place in places),
        (EngineOp.PEEK, 1, last, written),
        (EngineOp.PEEK, 0, last, unused()),
        (EngineOp.COUNTER, 15, unused(), unused()),
        (EngineOp.PEEK, 0, last ^ 4, unused()),
    )
    given = dataclasses.replace(case.given, during=during, after=after)
    fields = {field.name: getattr(case, field.name) for field in dataclasses.fields(case)}
    return Asked(**(fields | {"given": given}), places=places, written=written)
