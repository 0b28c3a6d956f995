"""All limits of the engine, for documents, and the operators that they are about."""

from kiwicha.compiler.engine.ir.limits import OPERATION_LIMITS
from kiwicha.compiler.engine.select.convolutions.channel_blocks import BLOCK_LIMITS
from kiwicha.compiler.engine.select.convolutions.phases import PHASE_LIMITS
from kiwicha.compiler.engine.select.elements.elementwise import CONVERSION_LIMITS
from kiwicha.compiler.engine.select.elements.operands import OPERAND_LIMITS
from kiwicha.compiler.engine.select.elements.short_edges import SHORT_EDGE_LIMITS
from kiwicha.compiler.engine.select.legalize import COMMON_LIMITS
from kiwicha.compiler.engine.select.moves.moves import MOVE_LIMITS
from kiwicha.compiler.engine.select.products.products import PRODUCT_LIMITS
from kiwicha.compiler.engine.select.recurrent import RECURRENT_LIMITS
from kiwicha.compiler.engine.select.reductions.extremes import EXTREME_LIMITS
from kiwicha.compiler.engine.select.reductions.means import MEAN_LIMITS
from kiwicha.compiler.engine.select.reductions.pools import POOL_LIMITS
from kiwicha.compiler.engine.select.resize.fractions import FRACTION_LIMITS
from kiwicha.compiler.engine.select.resize.interpolation import INTERPOLATION_LIMITS
from kiwicha.compiler.engine.select.resize.passes import PASS_LIMITS
from kiwicha.compiler.engine.select.shorts.elements import SHORT_ELEMENT_LIMITS
from kiwicha.compiler.engine.select.shorts.layers import SHORT_LIMITS
from kiwicha.compiler.engine.select.softmax.pairs import PAIR_LIMITS
from kiwicha.compiler.engine.select.softmax.softmax import SOFTMAX_LIMITS
from kiwicha.compiler.tflite.operators import BYTE_TABLE

__all__ = ["ENGINE_OPERATORS", "engine_limits"]

_LIMITS = (
    *COMMON_LIMITS,
    *CONVERSION_LIMITS,
    *SHORT_EDGE_LIMITS,
    *OPERAND_LIMITS,
    *POOL_LIMITS,
    *MEAN_LIMITS,
    *EXTREME_LIMITS,
    *OPERATION_LIMITS,
    *MOVE_LIMITS,
    *BLOCK_LIMITS,
    *PHASE_LIMITS,
    *INTERPOLATION_LIMITS,
    *FRACTION_LIMITS,
    *PASS_LIMITS,
    *PRODUCT_LIMITS,
    *SOFTMAX_LIMITS,
    *PAIR_LIMITS,
    *SHORT_LIMITS,
    *SHORT_ELEMENT_LIMITS,
    *RECURRENT_LIMITS,
)
ENGINE_OPERATORS = tuple(
    sorted({name for item in _LIMITS for name in item.operators} - {BYTE_TABLE})
)
"""Operators that an engine computes, within its limits; the CPU computes all others."""


def engine_limits() -> list[tuple[str, tuple[str, ...]]]:
    """Return the text of each limit and the operators that it is about."""
    return [
        (item.rule, tuple(name for name in item.operators if name != BYTE_TABLE))
        for item in _LIMITS
    ]
