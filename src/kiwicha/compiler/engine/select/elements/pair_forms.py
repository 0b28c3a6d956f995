"""Element-wise layers of two tensors in the engine's terms, in all forms that there are."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from kiwicha.compiler.engine.ir.limits import require
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.select.elements.element_products import (
    element_product,
    tensor_product,
)
from kiwicha.compiler.engine.select.elements.element_sums import element_sum, tensor_sum
from kiwicha.compiler.engine.select.elements.elementwise import byte_lookup
from kiwicha.compiler.engine.select.elements.excesses import comparison
from kiwicha.compiler.engine.select.elements.operands import (
    OPERAND_LIMITS,
    Operands,
    Relation,
    by_rows,
    in_short_rows,
    operands_of,
)
from kiwicha.compiler.engine.select.elements.prelus import prelu
from kiwicha.compiler.engine.select.elements.repetitions import (
    Repetition,
    has_long_constant,
    is_of_one_channel,
    repeated,
    repeated_by_convolution,
    stored_repeated,
)
from kiwicha.compiler.lower.network import Network
from kiwicha.contract.program import Kernel

__all__ = ["pair_forms"]

_COMPARISONS = frozenset({Kernel.MAXIMUM, Kernel.MINIMUM})


def pair_forms(network: Network, position: int) -> Decision:
    """Return the forms in which the engine can compute a layer of two tensors, in any order.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer with a kernel on two tensors, element by element.

    Raises
    ------
    BrokenLimitError
        If the engine cannot do it in any form.
    """
    operands = operands_of(network, network.layers[position])
    require(OPERAND_LIMITS, operands)
    if operands.relation is Relation.NUMBER:
        return _one(byte_lookup(network, position, operands.full.index))
    if operands.relation is not Relation.REPEATED and not has_long_constant(operands):
        return _one(_pair(position, operands))
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    for form, made in _forms(position, operands):
        try:
            candidates.append(Candidate(form, made()))
        except BrokenLimitError as error:
            refusals.append(Refusal(form, error.why))
    return Decision(tuple(candidates), tuple(refusals))


def _one(operation: Operation) -> Decision:
    return Decision((Candidate("", operation),))


def _pair(position: int, operands: Operands) -> Operation:
    """Return a layer of operands that are not repeated."""
    kernel = operands.layer.kernel
    if kernel in _COMPARISONS:
        return comparison(position, operands, (operands.full.index, operands.other.index))
    if kernel is Kernel.PRELU:
        return prelu(position, operands, element_product(position, operands))
    return (element_product if kernel is Kernel.MUL else element_sum)(position, operands)


def _forms(position: int, operands: Operands) -> Iterator[tuple[str, Callable[[], Operation]]]:
    """Yield forms of a layer of which an operand is repeated, or can be."""
    if operands.relation is not Relation.REPEATED:
        yield "", partial(_pair, position, operands)
    if has_long_constant(operands):
        form = "with a constant that is stored repeated"
        yield form, partial(_with_stored_constant, position, operands)
    if operands.relation is not Relation.REPEATED:
        return
    yield "with operands repeated", partial(_with_moves, position, operands)
    if any(is_of_one_channel(operands, number) for number in range(2)):
        form = "with operands repeated by a convolution"
        yield form, partial(_with_convolution, position, operands)
    rows = by_rows(operands)
    if rows is not None:
        yield "row by row", partial(_pair, position, rows)
    short = in_short_rows(operands)
    if short is not None:
        yield "in short rows", partial(_with_moves, position, short)


def _with_moves(position: int, operands: Operands) -> Operation:
    """Return a layer whose operands are repeated by moves."""
    return _sequence(position, operands, [repeated(position, operands, k) for k in range(2)])


def _with_stored_constant(position: int, operands: Operands) -> Operation:
    """Return a layer whose constant is as large as its output."""
    full = repeated(position, operands, operands.order[0])
    other = stored_repeated(position, operands, operands.order[1])
    return _sequence(position, operands, (full, other))


def _with_convolution(position: int, operands: Operands) -> Operation:
    """Return a layer of which operands of one channel are repeated by a convolution."""
    sources = [
        repeated_by_convolution(position, operands, number)
        if is_of_one_channel(operands, number)
        else repeated(position, operands, number)
        for number in range(2)
    ]
    return _sequence(position, operands, sources)


def _sequence(position: int, operands: Operands, sources: Iterable[Repetition]) -> Operation:
    """Return operations that repeat operands, and combine them."""
    first, second = sources
    kernel = operands.layer.kernel
    is_product = kernel in {Kernel.MUL, Kernel.PRELU}
    made: Callable[..., Operation] = comparison if kernel in _COMPARISONS else tensor_sum
    made = tensor_product if is_product else made
    constants = {**first.constants, **second.constants}
    last = made(position, operands, (first.tensor, second.tensor), constants)
    if kernel is Kernel.PRELU:
        last = prelu(position, operands, last)
    return OperationSequence.of([*first.steps, *second.steps, *last.steps])
