"""What is decided for each layer: forms that the engine can compute it in, and why not others."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.limits import verify
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.refusals import Troubles

__all__ = ["NOTHING_SELECTED", "Candidate", "Decision", "Refusal", "Selection"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A form in which the engine can compute a layer.

    Parameters
    ----------
    form : str
        How it differs from others, such as "in blocks of 16 channels"; empty for the usual one.
    operation : Operation
        The operation.
    """

    form: str
    operation: Operation


@dataclass(frozen=True)
class Refusal:
    """Why a layer is not computed in a form.

    Parameters
    ----------
    form : str
        As in `Candidate`; empty for the usual one, or for all.
    why : str
        A predicate, such as "has 300 kernel rows; the engine takes up to 255".
    """

    form: str
    why: str

    @property
    def text(self) -> str:
        """The reason as a sentence, such as "in blocks of 8 channels it has ..."."""
        return f"{self.form} it {self.why}" if self.form else f"it {self.why}"


@dataclass(frozen=True)
class Decision:
    """What is decided for a layer.

    Parameters
    ----------
    candidates : tuple of Candidate
        Forms that are left, the chosen one first; none if the layer is for the CPU.
    refusals : tuple of Refusal
        Forms that were given up, in order.
    """

    candidates: tuple[Candidate, ...] = ()
    refusals: tuple[Refusal, ...] = ()

    @property
    def chosen(self) -> Candidate | None:
        """The form that is chosen, None for the CPU."""
        return self.candidates[0] if self.candidates else None

    @property
    def why_not(self) -> str:
        """Why the layer is on the CPU, or why not in better forms: a sentence; may be empty."""
        return "; ".join(refusal.text for refusal in self.refusals)

    def without(self, why: str) -> "Decision":
        """Return the decision after the chosen form was refused."""
        assert self.candidates, "no form is left that could be refused"
        first, *others = self.candidates
        return Decision(tuple(others), (*self.refusals, Refusal(first.form, why)))


@dataclass(frozen=True, eq=False)
class Selection:
    """What is decided for all layers.

    Parameters
    ----------
    decisions : tuple of Decision
        By position of the layer.
    cuts : frozenset of int
        Layers at which a new region begins, because it would be too long.
    closed : frozenset of int
        Tensors that are moved together, because their readers need pixels without gaps.
    """

    decisions: tuple[Decision, ...]
    cuts: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()

    def verify(self) -> None:
        """Assert that operations lie at their layers' positions and break no limit."""
        for position, decision in enumerate(self.decisions):
            for candidate in decision.candidates:
                assert candidate.operation.position == position
                for operation in candidate.operation.job_operations:
                    verify(operation)

    @property
    def operations(self) -> dict[int, Operation]:
        """The chosen operations, by position."""
        return {
            position: decision.chosen.operation
            for position, decision in enumerate(self.decisions)
            if decision.chosen is not None
        }

    def after(self, troubles: Troubles) -> "Selection":
        """Return the selection after what a stage found: next forms, or none, cuts and moves."""
        decisions = list(self.decisions)
        for position, why in troubles.refusals.items():
            decisions[position] = decisions[position].without(why)
        cuts, closed = self.cuts | troubles.cuts, self.closed | troubles.gaps
        return Selection(tuple(decisions), cuts, closed)


NOTHING_SELECTED = Selection(())
"""That of a configuration without an engine."""
