"""RESIZE_BILINEAR in the engine's terms: as convolutions of its phases, or in two passes."""

from collections.abc import Callable

from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.select.resize.interpolation import interpolation
from kiwicha.compiler.engine.select.resize.passes import in_two_passes
from kiwicha.compiler.lower.network import Layer

__all__ = ["resize_forms"]

_FORMS: tuple[tuple[str, Callable[[Layer, int], Operation]], ...] = (
    ("phase by phase", interpolation),
    ("in two passes", in_two_passes),
)


def resize_forms(layer: Layer, position: int) -> Decision:
    """Return the forms of a RESIZE_BILINEAR, the faster one first, and why not others.

    Parameters
    ----------
    layer : Layer
        The layer.
    position : int
        Its position.
    """
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for form, made in _FORMS:
        try:
            candidates.append(Candidate(form, made(layer, position)))
        except BrokenLimitError as error:
            refusals.append(Refusal(form, error.why))
    return Decision(tuple(candidates), tuple(refusals))
