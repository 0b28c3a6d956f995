"""Element-wise layers on tensors whose bytes lie in another order."""

import dataclasses
from collections.abc import Sequence, Set

from kiwicha.compiler.optimize.orders import Order, cut, steps_between
from kiwicha.compiler.tflite.shapes import leading_ones, row_major_strides
from kiwicha.contract.program import MAX_RANK
from kiwicha.kernels.elementwise import Elementwise, is_plain

__all__ = ["INPUT_NUMBERS", "reads_in_order", "reordered"]

INPUT_NUMBERS = {"input_1": 1, "input_2": 2}
"""Inputs of element-wise layers."""


def reads_in_order(p: Elementwise, number: int) -> bool:
    """Whether input 1 or 2 has the output's elements in the same order."""
    strides = p.strides_1 if number == 1 else p.strides_2
    wanted = row_major_strides(p.shape)
    return all(
        size == 1 or stride == step
        for size, stride, step in zip(p.shape, strides, wanted, strict=True)
    )


def reordered(
    p: Elementwise, order: Order, changed: Set[int], shape: Sequence[int]
) -> Elementwise | None:
    """Return the parameters for an output in another order; None if these take too many loops.

    Parameters
    ----------
    p : Elementwise
        As it is.
    order : Order
        From the output as it is to what it becomes.
    changed : set of int
        Inputs, 1 or 2, which become like the output; others stay as they are.
    shape : sequence of int
        The output's shape, if all inputs change.
    """
    rows = zip(p.shape, row_major_strides(p.shape), p.strides_1, p.strides_2, strict=True)
    own = [item for item in rows if item[0] > 1]
    bounds = steps_between([row[1] for row in own], [step for _, step, _ in order.dimensions])
    if bounds is None:
        return None
    targets = {step: target for _, step, target in cut(order.dimensions, 1, bounds)}
    dimensions = []
    for count, step, first, second in cut(own, 1, bounds):
        target = targets[step]
        strides = (target if 1 in changed else first, target if 2 in changed else second)
        dimensions.append((count, target, *strides))
    merged: list[tuple[int, ...]] = []
    for count, *steps in sorted(dimensions, key=lambda item: -item[1]):
        joins = merged and list(merged[-1][1:]) == [count * step for step in steps]
        merged.append((count * merged.pop()[0] if joins else count, *steps))
    if len(merged) > MAX_RANK:
        return None
    found = dataclasses.replace(
        p,
        shape=leading_ones([count for count, *_ in merged]),
        strides_1=leading_ones([first for _, _, first, _ in merged], fill=0),
        strides_2=leading_ones([second for _, _, _, second in merged], fill=0),
    )
    if not is_plain(found):
        return found
    plain = leading_ones(shape)
    return dataclasses.replace(
        found,
        shape=plain,
        strides_1=row_major_strides(plain),
        strides_2=row_major_strides(plain),
    )
