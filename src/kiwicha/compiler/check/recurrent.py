"""Support rules for layers that keep tensors of their own between inferences."""

import math
from collections.abc import Iterator

from kiwicha.compiler.check.rules import Problem, Rule, rule
from kiwicha.compiler.check.shorts import largest_long_bias
from kiwicha.compiler.quantization.recurrent_scales import (
    GATE_EXPONENT,
    feature_ratio,
    gate_scale,
    hidden_scale,
    time_ratio,
)
from kiwicha.compiler.quantization.scales import MAX_SHIFT
from kiwicha.compiler.tflite.graph import Activation, Graph, Operator
from kiwicha.compiler.tflite.recurrent import (
    LSTM,
    LSTM_BIASES,
    LSTM_CELL,
    LSTM_HIDDEN,
    LSTM_INPUT_WEIGHTS,
    LSTM_OPERANDS,
    LSTM_RECURRENT_WEIGHTS,
    SVDF,
    SVDF_BIAS,
    SVDF_FEATURES,
    SVDF_STATE,
    SVDF_TIME,
    kept_tensors,
)
from kiwicha.compiler.tflite.tensor import Tensor, TensorType, quantization
from kiwicha.numerics.long_sums import MAX_LONG_SHIFT

__all__ = [
    "RECURRENT_OPERAND_RULES",
    "RECURRENT_SCALE_RULES",
    "RECURRENT_SHAPE_RULES",
]

RECURRENT_OPERAND_RULES: list[Rule] = []
RECURRENT_SHAPE_RULES: list[Rule] = []
RECURRENT_SCALE_RULES: list[Rule] = []

_LEAST_EXPONENT = -15
_BIAS_TOLERANCE = 1e-5
"""By which TensorFlow Lite Micro lets the scale of a bias differ."""
_VARIANTS = {"peephole": range(9, 12), "projection": range(16, 18), "layer norm": range(20, 24)}
_GATE_NAMES = ("input", "forget", "cell", "output")


def _has_shorts(graph: Graph, operator: Operator) -> bool:
    return graph.input(operator).type is TensorType.INT16


@rule(RECURRENT_OPERAND_RULES, LSTM)
def is_a_plain_lstm(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM has 24 inputs, without peephole, projection and layer norm.

    TensorFlow Lite Micro, whose results are the right ones, has no kernel for these either.
    """
    if len(operator.inputs) != LSTM_OPERANDS:
        yield Problem(f"number of inputs must be {LSTM_OPERANDS}, not {len(operator.inputs)}")
        return
    for what, positions in _VARIANTS.items():
        if any(graph.operand(operator, position) is not None for position in positions):
            yield Problem(f"layer must have no {what} (inputs {positions[0]} to {positions[-1]})")
    needed = (*LSTM_INPUT_WEIGHTS, *LSTM_RECURRENT_WEIGHTS, *LSTM_BIASES, LSTM_HIDDEN, LSTM_CELL)
    missing = [position for position in needed if graph.operand(operator, position) is None]
    if missing:
        yield Problem(f"inputs {', '.join(map(str, missing))} must be present")


@rule(RECURRENT_OPERAND_RULES, LSTM, SVDF)
def keeps_tensors_of_its_own(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """States of these operators are variable tensors that belong to one operator alone."""
    for tensor in kept_tensors(graph, operator):
        if not tensor.is_variable or tensor.is_constant:
            yield Problem("state must be a variable tensor", tensor)
        uses = [item.index for item in graph.operators for at in item.inputs if at == tensor.index]
        written = [item.index for item in graph.operators if tensor.index in item.outputs]
        if tensor.index in {*graph.inputs, *graph.outputs} or [*uses, *written] != [operator.index]:
            yield Problem("state must belong to one operator alone", tensor)


@rule(RECURRENT_OPERAND_RULES, LSTM, SVDF)
def has_plain_constants(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Weights are int8 of one scale and zero point 0, biases int32; SVDF needs a bias.

    With a state of int16 weights of time are int16. Biases of UNIDIRECTIONAL_SEQUENCE_LSTM of int16
    are int64.
    """
    is_lstm = operator.name == LSTM
    weights = (*LSTM_INPUT_WEIGHTS, *LSTM_RECURRENT_WEIGHTS) if is_lstm else (SVDF_FEATURES,)
    kinds = dict.fromkeys(weights, TensorType.INT8)
    bias_type = TensorType.INT64 if is_lstm and _has_shorts(graph, operator) else TensorType.INT32
    kinds |= dict.fromkeys(LSTM_BIASES if is_lstm else (SVDF_BIAS,), bias_type)
    if not is_lstm:
        state = graph.operand(operator, SVDF_STATE)
        has_shorts = state is not None and state.type is TensorType.INT16
        kinds[SVDF_TIME] = TensorType.INT16 if has_shorts else TensorType.INT8
    for position, kind in kinds.items():
        tensor = graph.operand(operator, position)
        if tensor is None:
            continue
        what = f"input {position}"
        if tensor.type is not kind:
            yield Problem(
                f"{what} must be {kind.text}, not {tensor.type.text}", tensor, is_about_type=True
            )
        elif not tensor.is_constant or tensor.is_sparse:
            yield Problem(f"{what} must be a dense constant", tensor)
        elif tensor.quantization is None and kind is not bias_type:
            yield Problem(f"{what} must have a scale, not none", tensor)
        elif kind is not bias_type:
            scales, zeros = quantization(tensor).scales, quantization(tensor).zero_points
            if len(scales) != 1 or not (math.isfinite(scales[0]) and scales[0] > 0):
                yield Problem(f"{what} must have one scale, finite and more than 0", tensor)
            if zeros.any():
                yield Problem(f"{what}'s zero point must be 0", tensor)


@rule(RECURRENT_OPERAND_RULES, LSTM, SVDF)
def has_states_of_known_types(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """The state of SVDF is int8, or int16 with zero point 0.

    Of UNIDIRECTIONAL_SEQUENCE_LSTM the hidden state is int8, or int16 with zero point 0 as its
    input and output are, the cell state int16 with zero point 0 and a scale that is a power of two,
    2**-15 to 1.
    """
    is_lstm = operator.name == LSTM
    hidden = TensorType.INT16 if is_lstm and _has_shorts(graph, operator) else TensorType.INT8
    allowed = (
        {LSTM_HIDDEN: (hidden,), LSTM_CELL: (TensorType.INT16,)}
        if is_lstm
        else {SVDF_STATE: (TensorType.INT8, TensorType.INT16)}
    )
    for position, kinds in allowed.items():
        tensor = graph.operand(operator, position)
        if tensor is None:
            continue
        if tensor.type not in kinds or tensor.is_shifted:
            names = " or ".join(kind.text for kind in kinds)
            kind = "uint8" if tensor.is_shifted else tensor.type.text
            yield Problem(f"state must be {names}, not {kind}", tensor, is_about_type=True)
            continue
        yield from _state_scale_problems(tensor)
        if is_lstm and position == LSTM_CELL and tensor.quantization is not None:
            mantissa, exponent = math.frexp(quantization(tensor).scale)
            if mantissa != 0.5 or not _LEAST_EXPONENT <= exponent - 1 <= 0:
                yield Problem(
                    f"cell state's scale must be a power of two, 2**{_LEAST_EXPONENT} to 1, "
                    f"not {quantization(tensor).scale}",
                    tensor,
                )


def _state_scale_problems(tensor: Tensor) -> Iterator[Problem]:
    parameters = tensor.quantization
    if parameters is None or len(parameters.scales) != 1:
        yield Problem("state must have one scale and zero point", tensor)
        return
    if not (math.isfinite(parameters.scale) and parameters.scale > 0):
        yield Problem(
            f"state's scale must be finite and more than 0, not {parameters.scale}", tensor
        )
    low, high = (-128, 127) if tensor.type is TensorType.INT8 else (0, 0)
    if not low <= parameters.zero_point <= high:
        allowed = "0" if low == high else f"{low} to {high}"
        yield Problem(f"state's zero point must be {allowed}, not {parameters.zero_point}", tensor)


@rule(RECURRENT_SHAPE_RULES, LSTM)
def goes_through_sequences(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM has an input [batches, steps, inputs], and TANH.

    Or it is [steps, batches, inputs]. States and weights fit it.
    """
    source, output = graph.input(operator), graph.output(operator)
    if operator.options.activation is not Activation.TANH:
        yield Problem(f"activation must be TANH, not {operator.options.activation.name}")
    if len(source.shape) != 3:
        yield Problem(f"input must have 3 dimensions, not {list(source.shape)}", source)
        return
    first, second, inputs = source.shape
    units = output.shape[-1] if output.shape else 0
    if output.shape != (first, second, units):
        yield Problem(
            f"output must be {[first, second]} and the units, not {list(output.shape)}", output
        )
        return
    batches = second if operator.options.is_time_major else first
    shapes = dict.fromkeys(LSTM_INPUT_WEIGHTS, (units, inputs))
    shapes |= dict.fromkeys(LSTM_RECURRENT_WEIGHTS, (units, units))
    for position, shape in shapes.items():
        tensor = graph.input(operator, position)
        if tensor.shape != shape:
            yield Problem(
                f"input {position} must be {list(shape)}, not {list(tensor.shape)}", tensor
            )
    counts = dict.fromkeys(LSTM_BIASES, units)
    counts |= {LSTM_HIDDEN: batches * units, LSTM_CELL: batches * units}
    for position, count in counts.items():
        tensor = graph.input(operator, position)
        if tensor.elements != count:
            yield Problem(
                f"input {position} must have {count} values, not {tensor.elements}", tensor
            )


@rule(RECURRENT_SCALE_RULES, LSTM)
def adds_to_gates_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """UNIDIRECTIONAL_SEQUENCE_LSTM has scales of products of gates of less than 2**18.

    Of int16 they are less than 2**-5, and sums with biases fit 48 bits. The scale of its hidden
    state is more than 2**-30.
    """
    largest_shift = MAX_SHIFT
    if _has_shorts(graph, operator):
        largest_shift = MAX_LONG_SHIFT
        yield from _long_bias_problems(graph, operator)
    hidden = quantization(graph.input(operator, LSTM_HIDDEN))
    sources = {
        LSTM_INPUT_WEIGHTS: quantization(graph.input(operator)),
        LSTM_RECURRENT_WEIGHTS: hidden,
    }
    for positions, source in sources.items():
        for name, position in zip(_GATE_NAMES, positions, strict=True):
            weights = graph.input(operator, position)
            if gate_scale(source, quantization(weights)).shift > largest_shift:
                yield Problem(
                    f"scale of products for the {name} gate must be less than "
                    f"2**{largest_shift + GATE_EXPONENT}",
                    weights,
                )
    if hidden_scale(hidden).shift > 0:
        yield Problem(
            f"scale must be more than 2**-30, not {hidden.scale}",
            graph.input(operator, LSTM_HIDDEN),
        )


def _long_bias_problems(graph: Graph, operator: Operator) -> Iterator[Problem]:
    limit = largest_long_bias(graph.input(operator).shape[-1])
    for position in LSTM_BIASES:
        bias = graph.input(operator, position)
        largest = max(map(abs, bias.integers()))
        if largest >= limit:
            yield Problem(f"bias must be less than {limit}, not {largest}", bias)


@rule(RECURRENT_SHAPE_RULES, SVDF)
def filters_rows(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SVDF has an input [batches, inputs], and a unit for as many filters as its rank.

    Weights of features are [filters, inputs], those of time [filters, steps], the state is
    [batches, filters x steps].
    """
    source, output = graph.input(operator), graph.output(operator)
    features, time = graph.input(operator, SVDF_FEATURES), graph.input(operator, SVDF_TIME)
    if len(source.shape) != 2 or len(features.shape) != 2 or len(time.shape) != 2:
        yield Problem(f"input and weights must have 2 dimensions, not {list(source.shape)}", source)
        return
    batches, inputs = source.shape
    filters, steps = time.shape
    rank = operator.options.rank
    if rank < 1 or filters % rank:
        yield Problem(f"rank must divide the {filters} filters, not be {rank}")
        return
    state = graph.input(operator, SVDF_STATE)
    bias = graph.input(operator, SVDF_BIAS)
    for what, tensor, shape in (
        ("weights of features", features, (filters, inputs)),
        ("bias", bias, (filters // rank,)),
        ("state", state, (batches, filters * steps)),
        ("output", output, (batches, filters // rank)),
    ):
        if tensor.shape != shape:
            yield Problem(f"{what} must be {list(shape)}, not {list(tensor.shape)}", tensor)


@rule(RECURRENT_SCALE_RULES, SVDF)
def rescales_moderately(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """SVDF has scales of products over scales of their results of less than 2**30.

    Products are those of inputs and features, and of state and time; bias scale = scale of state x
    scale of time.
    """
    operands = [graph.input(operator, at) for at in (0, SVDF_FEATURES, SVDF_STATE, SVDF_TIME)]
    source, features, state, time = (quantization(tensor) for tensor in operands)
    output = graph.output(operator)
    for what, ratio in (
        ("features", feature_ratio(source, features, state)),
        ("time", time_ratio(state, time, quantization(output))),
    ):
        if not ratio < 2.0**MAX_SHIFT:
            yield Problem(f"scale of {what} must be less than 2**{MAX_SHIFT}, not {ratio}", output)
    bias = graph.input(operator, SVDF_BIAS)
    expected = float(state.scales[0] * time.scales[0])
    actual = 0.0 if bias.quantization is None else bias.quantization.scale
    if not abs(expected - actual) < _BIAS_TOLERANCE:
        yield Problem(f"bias scale must be {expected:.9g}, not {actual:.9g}", bias)
