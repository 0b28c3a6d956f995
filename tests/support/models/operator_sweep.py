"""Models of one operator of random shapes, scales and settings: a number of draws of each."""

from dataclasses import dataclass

from tests.support.models import (
    random_glue,
    random_large,
    random_models,
    random_moves,
    random_shorts,
)
from tests.support.oracle.oracle import Case

__all__ = ["DRAWS", "Draw", "case"]

INT8_DRAWS = 116
UINT8_DRAWS = 88
MOVES = 72
"""Draws of each operator that only moves data."""
GLUE_DRAWS = 40
"""Draws of each operator on integers and booleans, or with computed indices."""


SHORT_DRAWS = 120
"""Draws of each operator on int16."""
LARGE_DRAWS = 24
"""Draws of each operator on tensors larger than a scratchpad, or with long windows."""


@dataclass(frozen=True)
class Draw:
    """One random model."""

    operator: str
    number: int
    is_unsigned: bool
    is_glue: bool = False
    is_short: bool = False
    is_large: bool = False

    def __str__(self) -> str:
        """Return what a failing test shows."""
        if self.is_glue:
            return f"{self.operator}-glue-{self.number}"
        if self.is_short:
            return f"{self.operator}-int16-{self.number}"
        if self.is_large:
            return f"{self.operator}-large-{self.number}"
        return f"{self.operator}-{'uint8' if self.is_unsigned else 'int8'}-{self.number}"


DRAWS = [
    *(Draw(name, k, False) for name in random_models.OPERATORS for k in range(INT8_DRAWS)),
    *(
        Draw(name, k, True)
        for name in random_models.OPERATORS
        if name not in random_models.SIGNED_OPERATORS
        for k in range(UINT8_DRAWS)
    ),
    *(
        Draw(name, k, False)
        for name in random_moves.OPERATORS
        if name not in random_models.OPERATORS
        for k in range(MOVES)
    ),
    *(Draw(name, k, False, True) for name in random_glue.OPERATORS for k in range(GLUE_DRAWS)),
    *(
        Draw(name, k, False, is_short=True)
        for name in random_shorts.OPERATORS
        for k in range(SHORT_DRAWS)
    ),
    *(
        Draw(name, k, False, is_large=True)
        for name in random_large.OPERATORS
        for k in range(LARGE_DRAWS)
    ),
]


def case(draw: Draw) -> Case:
    """Return the model of a draw and its inputs, always the same."""
    if draw.is_short:
        return random_shorts.single_operator(draw.operator, draw.number)
    if draw.is_glue:
        return random_glue.single_operator(draw.operator, draw.number)
    if draw.is_large:
        return random_large.single_operator(draw.operator, draw.number)
    if draw.operator not in random_models.OPERATORS:
        return random_moves.single_operator(draw.operator, draw.number)
    return random_models.single_operator(
        draw.operator, draw.number, is_unsigned=draw.is_unsigned, has_bias=True
    )
