"""From a checked `Graph` to a `Network`: operators become kernel calls with all numbers computed.

Convolutions take over padding and batching around them. What only moves data is no step where a
tensor can lie inside another one, or be another name for it.
"""

from collections.abc import Callable

from kiwicha.compiler.lower.arg_max import lower_arg_max
from kiwicha.compiler.lower.casts import (
    keeps_bits,
    lower_booleans,
    lower_cast,
    lower_cumulative_sum,
)
from kiwicha.compiler.lower.convolution_folding import folded, folds, replaced_operators
from kiwicha.compiler.lower.convolutions import (
    lower_conv,
    lower_depthwise,
    lower_pool,
    lower_transpose_conv,
)
from kiwicha.compiler.lower.custom import lower_custom
from kiwicha.compiler.lower.detection import lower_detection
from kiwicha.compiler.lower.elementwise import (
    lower_comparison,
    lower_l2_normalization,
    lower_log_softmax,
    lower_prelu,
    lower_product,
    lower_reduction,
    lower_softmax,
    lower_square,
    lower_sum,
)
from kiwicha.compiler.lower.indexed import lower_indexed, lower_top
from kiwicha.compiler.lower.integers import lower_integers, lower_select
from kiwicha.compiler.lower.matrix_products import (
    PRODUCT,
    lower_matrix_product,
    with_rows_by_rows,
)
from kiwicha.compiler.lower.memory_sharing import MemorySharing
from kiwicha.compiler.lower.move_operators import lower_moves
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.lower.quotients import lower_quotient
from kiwicha.compiler.lower.recurrent import lower_lstm
from kiwicha.compiler.lower.resize import is_one_pixel, lower_resize_bilinear
from kiwicha.compiler.lower.short_recurrent import with_gates_apart
from kiwicha.compiler.lower.shorts import of_its_width
from kiwicha.compiler.lower.signal import lower_signal
from kiwicha.compiler.lower.svdf import lower_svdf, with_split_filters
from kiwicha.compiler.lower.tables import lower_table, table_layer
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.integer_operators import DIVISION, computes_integers, is_steered
from kiwicha.compiler.tflite.operators import OPERATORS, Family, of_family
from kiwicha.compiler.tflite.recurrent import LSTM, with_kept_tensors
from kiwicha.compiler.tflite.signal_operators import SIGNAL_OPERATORS
from kiwicha.compiler.tflite.signal_states import with_signals
from kiwicha.compiler.tflite.uint8_as_int8 import FLIP, FLIP_TABLE, with_flipped_edges
from kiwicha.compiler.tflite.variables import with_states, writers_last
from kiwicha.custom import MODEL_PREFIX
from kiwicha.detection.boxes import DETECTION_NAME

__all__ = ["COPIED_BYTES", "lower"]

COPIED_BYTES = 1536
"""From so many bytes on, a tensor costs an engine more to copy than to end its list.

A list cannot read what it has written into a tensor that lies elsewhere.
"""

Lowering = Callable[[Graph, Operator], Layer]

_LOWERINGS: dict[str, Lowering] = {
    "CONV_2D": lower_conv,
    "DEPTHWISE_CONV_2D": lower_depthwise,
    "FULLY_CONNECTED": lower_matrix_product,
    PRODUCT: lower_matrix_product,
    "AVERAGE_POOL_2D": lower_pool,
    "MAX_POOL_2D": lower_pool,
    "ADD": lower_sum,
    **dict.fromkeys(of_family(Family.POSITION), lower_arg_max),
    "SUB": lower_sum,
    "SVDF": lower_svdf,
    "MUL": lower_product,
    "MAXIMUM": lower_comparison,
    "MINIMUM": lower_comparison,
    "L2_NORMALIZATION": lower_l2_normalization,
    "LOG_SOFTMAX": lower_log_softmax,
    "PRELU": lower_prelu,
    "SQUARED_DIFFERENCE": lower_square,
    **dict.fromkeys(of_family(Family.REDUCTION), lower_reduction),
    "RESIZE_BILINEAR": lower_resize_bilinear,
    "SOFTMAX": lower_softmax,
    "TRANSPOSE_CONV": lower_transpose_conv,
    **dict.fromkeys(of_family(Family.UNARY), lower_table),
    "CAST": lower_cast,
    "CUMSUM": lower_cumulative_sum,
    DIVISION: lower_quotient,
    **dict.fromkeys(("REDUCE_ALL", "REDUCE_ANY"), lower_booleans),
    **dict.fromkeys(("SELECT", "SELECT_V2"), lower_select),
    "TOPK_V2": lower_top,
}
_MOVES = Family.MOVE | Family.VARIABLE


def lower(graph: Graph, *, least_ring_bytes: int = 0, least_part_bytes: int = 0) -> Network:
    """Return the lowered model.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    least_ring_bytes, least_part_bytes : int
        Smaller ring buffers, and other tensors that could lie in another one, are copied: see
        `kiwicha.compiler.lower.memory_sharing`.
    """
    count = len(graph.operators)
    graph, order = with_flipped_edges(with_signals(with_kept_tensors(with_states(graph))))
    flips = range(count, len(graph.operators))
    graph, order = with_rows_by_rows(*with_split_filters(*with_gates_apart(graph, order)))
    order = writers_last(graph, order)
    found = folds(graph)
    replaced = replaced_operators(found)
    sharing = MemorySharing(graph, order, least_ring_bytes, least_part_bytes)
    layers = []
    for operator in order:
        if operator.index in flips:
            assert operator.name == FLIP
            layer = table_layer(operator, FLIP_TABLE)
        elif operator.index in replaced or graph.is_done(operator) or operator.is_nothing:
            layer = Layer(operator.index, operator.name)
        elif operator.name == LSTM:
            layer = lower_lstm(graph, operator, sharing)
        elif operator.name.startswith(MODEL_PREFIX):
            layer = lower_custom(graph, operator)
        elif operator.name == DETECTION_NAME:
            layer = lower_detection(graph, operator, sharing)
        elif operator.name in SIGNAL_OPERATORS:
            layer = lower_signal(graph, operator)
        elif is_steered(graph, operator):
            layer = lower_indexed(graph, operator)
        elif computes_integers(graph, operator):
            layer = lower_integers(graph, operator)
        elif (
            _MOVES & OPERATORS[operator.name].family
            or is_one_pixel(graph, operator)
            or keeps_bits(graph, operator)
        ):
            layer = lower_moves(graph, operator, sharing)
        else:
            layer = of_its_width(graph, operator, _LOWERINGS[operator.name](graph, operator))
        if operator.index in found:
            layer = folded(graph, layer, found[operator.index])
        layers.append(layer)
    network = sharing.resolved(layers)
    network.verify()
    return network
