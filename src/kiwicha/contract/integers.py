"""Operations on integers and booleans that kernels of the CPU do element by element."""

import enum

__all__ = ["IntegerOperation"]


class IntegerOperation(enum.IntEnum):
    """What becomes of two integers; sums, differences and products wrap around."""

    ADD = 0
    SUB = 1
    MUL = 2
    DIV = 3
    """Rounds towards 0."""
    FLOOR_DIV = 4
    """Rounds down."""
    FLOOR_MOD = 5
    """What `FLOOR_DIV` leaves; of the divisor's sign."""
    MINIMUM = 6
    MAXIMUM = 7
    EQUAL = 8
    """From here on the result is a boolean."""
    NOT_EQUAL = 9
    LESS = 10
    LESS_EQUAL = 11

    @property
    def is_comparison(self) -> bool:
        """Whether it gives a boolean."""
        return self >= IntegerOperation.EQUAL

    @property
    def divides(self) -> bool:
        """Whether the second number must not be 0."""
        return IntegerOperation.DIV <= self <= IntegerOperation.FLOOR_MOD
