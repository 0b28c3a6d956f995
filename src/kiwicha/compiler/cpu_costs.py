"""What steps of the CPU cost, in cycles."""

import math

from kiwicha.isa_engine import TABLE_ENTRIES
from kiwicha.isa_program import Copy, Lookup, Softmax
from kiwicha.program import Step

__all__ = ["cpu_cycles"]

SOFTMAX_CYCLES = 680
"""What SOFTMAX takes for each row, and in `SOFTMAX_ENTRY_CYCLES` for each entry of it; measured for
short rows."""
SOFTMAX_ENTRY_CYCLES = 100
SOFTMAX_LONG_ENTRY_CYCLES = 43
"""The same in rows of more entries than int8 has values, which have a table of outputs; measured
for 1001 entries."""
COPY_RUN_CYCLES = 25
"""What COPY takes for each run, and in `COPY_BYTE_CYCLES` for each byte; stores bound it. Measured
in the detector of the public models, whose head joins runs of 12 to 546 bytes."""
COPY_BYTE_CYCLES = 4.6
LOOKUP_CYCLES = 400
"""What LOOKUP takes, and in `LOOKUP_BYTE_CYCLES` for each byte; measured there, too."""
LOOKUP_BYTE_CYCLES = 17.2
CPU_STEP_CYCLES = 3000
"""Assumed for any other step of the CPU between or behind lists."""


def cpu_cycles(step: Step) -> int:
    """Return the predicted cycles of a step of the CPU.

    Those other than SOFTMAX, COPY and LOOKUP are little more than assumed: they are meant to be few
    and small.
    """
    params = step.params
    if isinstance(params, Softmax):
        entry = SOFTMAX_LONG_ENTRY_CYCLES if params.depth > TABLE_ENTRIES else SOFTMAX_ENTRY_CYCLES
        return params.rows * (SOFTMAX_CYCLES + entry * params.depth)
    if isinstance(params, Copy):
        run = COPY_RUN_CYCLES + COPY_BYTE_CYCLES * params.run_bytes
        return round(math.prod(params.shape) * run)
    if isinstance(params, Lookup):
        return round(LOOKUP_CYCLES + LOOKUP_BYTE_CYCLES * params.input.bytes)
    return CPU_STEP_CYCLES
