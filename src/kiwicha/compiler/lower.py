"""From a checked `Graph` to a `Network`: operators become kernel calls with all numbers computed.

PAD folds into the convolution that follows; what only moves data is no step where a tensor can lie
inside another one, or be another name for it.
"""

from collections import Counter
from collections.abc import Callable

from kiwicha.compiler.graph import Graph, Operator, Padding
from kiwicha.compiler.layers import Layer, Network
from kiwicha.compiler.lower_arg_max import lower_arg_max
from kiwicha.compiler.lower_custom import lower_custom
from kiwicha.compiler.lower_elementwise import (
    lower_comparison,
    lower_prelu,
    lower_product,
    lower_reduction,
    lower_softmax,
    lower_sum,
)
from kiwicha.compiler.lower_moves import lower_moves
from kiwicha.compiler.lower_resize import lower_resize_bilinear
from kiwicha.compiler.lower_tables import lower_table
from kiwicha.compiler.lower_windows import (
    Borders,
    lower_conv,
    lower_depthwise,
    lower_fully_connected,
    lower_pool,
    lower_transpose_conv,
)
from kiwicha.compiler.places import Places
from kiwicha.compiler.rules import MOVES, REDUCTIONS, UNARIES
from kiwicha.compiler.shapes import pad_value, paddings
from kiwicha.compiler.windows import effective_size
from kiwicha.custom import MODEL_PREFIX

__all__ = ["lower"]

Lowering = Callable[[Graph, Operator], Layer]

_LOWERINGS: dict[str, Lowering] = {
    "FULLY_CONNECTED": lower_fully_connected,
    "AVERAGE_POOL_2D": lower_pool,
    "MAX_POOL_2D": lower_pool,
    "ADD": lower_sum,
    "ARG_MAX": lower_arg_max,
    "SUB": lower_sum,
    "MUL": lower_product,
    "MAXIMUM": lower_comparison,
    "MINIMUM": lower_comparison,
    "PRELU": lower_prelu,
    **dict.fromkeys(REDUCTIONS, lower_reduction),
    "RESIZE_BILINEAR": lower_resize_bilinear,
    "SOFTMAX": lower_softmax,
    "TRANSPOSE_CONV": lower_transpose_conv,
    **dict.fromkeys(UNARIES, lower_table),
}


def lower(graph: Graph) -> Network:
    """Return the lowered model.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check` accepts.
    """
    borders = _foldable_pads(graph)
    folded_outputs = {tensor for tensor, _ in borders.values()}
    places = Places(graph)
    layers = []
    for operator in graph.operators:
        if operator.name == "PAD" and operator.outputs[0] in folded_outputs:
            layer = Layer(operator.index, operator.name)
        elif operator.name in MOVES:
            layer = lower_moves(graph, operator, places)
        elif operator.name == "CONV_2D":
            layer = lower_conv(graph, operator, _borders(graph, borders, operator))
        elif operator.name == "DEPTHWISE_CONV_2D":
            layer = lower_depthwise(graph, operator, _borders(graph, borders, operator))
        elif operator.name.startswith(MODEL_PREFIX):
            layer = lower_custom(graph, operator)
        else:
            layer = _LOWERINGS[operator.name](graph, operator)
        layers.append(layer)
    network = Network(graph, tuple(layers), places.aliases, places.parts)
    network.verify()
    return network


def _foldable_pads(graph: Graph) -> dict[int, tuple[int, Operator]]:
    """Return, by index of a convolution, the padded tensor it reads and the PAD that gives it."""
    readers: Counter[int] = Counter(graph.outputs)
    for operator in graph.operators:
        readers.update(set(operator.inputs))
    pads = {o.outputs[0]: o for o in graph.operators if o.name == "PAD"}
    folds = {}
    for operator in graph.operators:
        if operator.name not in {"CONV_2D", "DEPTHWISE_CONV_2D"}:
            continue
        pad = pads.get(operator.inputs[0])
        if pad is None or readers[operator.inputs[0]] != 1:
            continue
        if operator.options.padding is Padding.VALID and _is_foldable(graph, pad, operator):
            folds[operator.index] = (operator.inputs[0], pad)
    return folds


def _is_foldable(graph: Graph, pad: Operator, conv: Operator) -> bool:
    padded = graph.output(pad)
    assert padded.quantization is not None
    if len(padded.shape) != 4 or pad_value(graph, pad) != padded.quantization.zero_point:
        return False
    (n0, n1), rows, columns, (c0, c1) = paddings(graph, pad)
    _, kernel_height, kernel_width, _ = graph.input(conv, 1).shape
    options = conv.options
    return (
        n0 == n1 == c0 == c1 == 0
        and max(rows) < effective_size(kernel_height, options.dilation_height)
        and max(columns) < effective_size(kernel_width, options.dilation_width)
    )


def _borders(
    graph: Graph, folds: dict[int, tuple[int, Operator]], operator: Operator
) -> Borders | None:
    if operator.index not in folds:
        return None
    _, pad = folds[operator.index]
    _, (top, _), (left, _), _ = paddings(graph, pad)
    return Borders(pad.inputs[0], top, left)
