"""What passes between the parts that compute probabilities."""

from amaranth.lib import data

from kiwicha.contract.latencies import SOFTMAX_SCAN_BYTES

__all__ = [
    "DIFFERENCE_BITS",
    "DISTANCE_BITS",
    "EXPONENTIAL_BITS",
    "EXPONENT_BITS",
    "FRACTION_BITS",
    "RECIPROCAL_SLOPE",
    "SOFTMAX_READ",
    "SUM_BITS",
]

DIFFERENCE_BITS = 8
"""Of a byte to the largest one of its row, 0 to 255."""
EXPONENTIAL_BITS = 32
"""Of an entry of the table, the uppermost of which is 0."""
DISTANCE_BITS = 31
"""Of an entry of the other table: a distance from the maximum in Q5.26, 16 at most."""
FRACTION_BITS = 19
SUM_BITS = 12 + FRACTION_BITS
"""Of a sum, in Q12.19; it is 1 or more."""
EXPONENT_BITS = (SUM_BITS - FRACTION_BITS - 1).bit_length()
"""Of how many bits it has more than 1 has."""
RECIPROCAL_SLOPE = -1010580540
"""-32/17 in Q2.29: the first estimate of 1/d is 48/17 - 32/17 d, for d from 1/2 to 1."""

SOFTMAX_READ = data.StructLayout({
    "scans": 1,
    "sums": 1,
    "outputs": 1,
    "is_first": 1,
    "is_last": 1,
    "is_end": 1,
    "counts": SOFTMAX_SCAN_BYTES,
})
"""A read for one of three passes, or none: bytes that count are compared, or the first is summed
or becomes an output; ``is_first`` and ``is_last`` of the pass, ``is_end`` of the job."""
