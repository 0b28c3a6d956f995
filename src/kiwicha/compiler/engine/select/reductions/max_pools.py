"""Max pools in the engine's terms: in one job, or in passes where that is faster or has to be."""

import dataclasses
from collections.abc import Callable

from kiwicha.compiler.engine.ir.move_operations import MoveOperation
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.reductions.max_passes import (
    add_passes,
    add_two_passes,
    maximum,
)
from kiwicha.compiler.engine.select.reductions.pools import is_global, window_of
from kiwicha.compiler.engine.select.reductions.step_sequence import StepSequence
from kiwicha.kernels.pool import Pool

__all__ = ["max_pool_forms"]

Steps = Callable[[Pool, StepSequence], None]


def max_pool_forms(p: Pool, position: int, source: int, output: int) -> Decision:
    """Return the forms of a MAX_POOL_2D.

    Parameters
    ----------
    p : Pool
        Its parameters.
    position : int
        Position of the layer.
    source, output : int
        Tensors that it reads and writes.
    """
    forms: list[tuple[str, Steps]] = [("", _at_once)]
    if is_global(p) and p.input_height * p.input_width > 1:
        forms.append(("in passes", _of_images))
    elif p.kernel_height > 1 and p.kernel_width > 1:
        forms.append(("in two passes", _separated))
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for form, made in forms:
        steps = StepSequence(position, source)
        try:
            made(p, steps)
        except BrokenLimitError as error:
            refusals.append(Refusal(form, error.why))
        else:
            candidates.append(Candidate(form, _finished(p, steps, output)))
    return Decision(tuple(candidates), tuple(refusals))


def _finished(p: Pool, steps: StepSequence, output: int) -> Operation:
    """Return the operations, of which the last one writes the output and has the clamp."""
    last = dataclasses.replace(
        steps.steps[-1], output=output, clamp=(p.activation_min, p.activation_max)
    )
    return OperationSequence.of([*steps.steps[:-1], last])


def _at_once(p: Pool, steps: StepSequence) -> None:
    steps.append(maximum(steps, window_of(p).repeated(p.batches)))


def _of_images(p: Pool, steps: StepSequence) -> None:
    """Add what finds the largest bytes of whole images; the last operation can have a clamp."""
    add_passes(steps, p.batches, p.input_height * p.input_width, p.channels)
    image = steps.steps[-1].output_image
    if isinstance(steps.steps[-1], MoveOperation):
        steps.append(maximum(steps, Window.of_pixels(image.rows, image.columns, image.channels)))


def _separated(p: Pool, steps: StepSequence) -> None:
    """Add what finds the largest bytes of the windows' columns, and then of their rows."""
    add_two_passes(steps, window_of(p), p.batches)
