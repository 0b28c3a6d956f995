"""Quantized arithmetic, one value at a time, in Python's unbounded integers as C defines it.

Nothing here is shared with the code under test.
"""

import math
from fractions import Fraction

__all__ = [
    "INT32_MAX",
    "INT32_MIN",
    "clamp",
    "divide_by_pot",
    "high_mul",
    "multiply",
    "reciprocal",
    "requantize",
    "softmax",
    "truncated_quotient",
    "wrap",
]

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def wrap(x: int) -> int:
    """Keep the low 32 bits, signed."""
    return (x + 2**31) % 2**32 - 2**31


def clamp(x: int, low: int, high: int) -> int:
    """Return ``x``, at least ``low`` and then at most ``high``."""
    return min(max(x, low), high)


def truncated_quotient(a: int, b: int) -> int:
    """Divide by a positive number as C does."""
    return abs(a) // b if a >= 0 else -(abs(a) // b)


def high_mul(a: int, b: int) -> int:
    """Return the doubled high product: nudge, then truncating division."""
    if a == b == INT32_MIN:
        return INT32_MAX
    nudge = 1 << 30 if a * b >= 0 else 1 - (1 << 30)
    return truncated_quotient(a * b + nudge, 1 << 31)


def divide_by_pot(x: int, exponent: int) -> int:
    """Divide by a power of two, rounding half away from zero."""
    quotient = abs(Fraction(x, 2**exponent))
    return int(math.copysign(1, x)) * math.floor(quotient + Fraction(1, 2))


def multiply(x: int, multiplier: int, shift: int) -> int:
    """Return ``x * multiplier * 2**(shift - 31)``, rounded twice."""
    return divide_by_pot(high_mul(wrap(x << max(shift, 0)), multiplier), max(-shift, 0))


def requantize(x: int, multiplier: int, shift: int, offset: int, low: int, high: int) -> int:
    """Rescale an int32 sum, add the zero point and clamp."""
    return clamp(wrap(multiply(wrap(x), multiplier, shift) + offset), low, high)


def reciprocal(total: int) -> tuple[int, int]:
    """Return 1 / total, both with 19 and 31 fraction bits: the value in [1/2, 1] and an exponent.

    Half the normalised total is a Q0.31 number d in [1/2, 1]; x, Q2.29, goes from the line
    48/17 - 32/17 d towards 1 / d in three Newton steps.
    """
    left_zeros = 32 - total.bit_length()
    d = (wrap((total << left_zeros) - 2**31) + INT32_MAX + 1) // 2
    x = round(Fraction(48 * 2**29, 17)) + high_mul(d, -round(Fraction(32 * 2**29, 17)))
    for _ in range(3):
        x += clamp(4 * high_mul(x, 2**29 - high_mul(d, x)), INT32_MIN, INT32_MAX)
    return clamp(2 * x, INT32_MIN, INT32_MAX), 12 - left_zeros


def softmax(logits: list[int], table: list[int]) -> list[int]:
    """Return int8 outputs; the table holds the exponentials of all differences, Q0.31."""
    exponentials = [table[max(logits) - x] for x in logits]
    scale, exponent = reciprocal(sum(divide_by_pot(e, 12) for e in exponentials))
    values = [divide_by_pot(high_mul(scale, e), exponent + 31 - 8) for e in exponentials]
    return [clamp(value - 128, -128, 127) for value in values]
