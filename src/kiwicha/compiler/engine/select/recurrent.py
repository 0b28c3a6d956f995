"""UNIDIRECTIONAL_SEQUENCE_LSTM in the engine's terms: two products for its gates, and its steps.

That of int16 is two layers: what inputs add to the gates is a FULLY_CONNECTED before it. As one
operation both have the sums of gates as the steps read them, which no tensor has to hold.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import Limit, exceeded, limit, require
from kiwicha.compiler.engine.ir.operations import Operation, internal_tensor
from kiwicha.compiler.engine.ir.recurrent_operation import RecurrentOperation, RecurrentPlanes
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Image, Window, padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.select.legalize import require_common_limits
from kiwicha.compiler.engine.select.shorts.convolutions import in_two_passes
from kiwicha.compiler.engine.select.shorts.planes import (
    SHORT_BYTES,
    are_rows,
    joining,
    joining_rows,
    splitting_of,
)
from kiwicha.compiler.engine.select.shorts.weights import (
    ShortWeights,
    short_weights,
    weighted_operation,
)
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.ranges import largest_sum
from kiwicha.contract.configs import Config
from kiwicha.contract.engine import GROUP_WORDS, INPUT_LANES
from kiwicha.contract.program import Kernel
from kiwicha.contract.recurrences import GATES, MAX_HIDDEN_SHIFT
from kiwicha.kernels.lstm import Lstm, LstmGates
from kiwicha.numerics.long_sums import exact_scale
from kiwicha.numerics.lstm_steps import CellScales
from kiwicha.numerics.requantization import INT32_MAX
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "RECURRENT_KERNELS",
    "RECURRENT_LIMITS",
    "RECURRENT_OPERATORS",
    "recurrent_decision",
    "without_gates",
]

RECURRENT_KERNELS = frozenset({Kernel.LSTM_GATES, Kernel.SHORT_LSTM})
"""Kernels of layers that take RECURRENT jobs."""
RECURRENT_OPERATORS = ("UNIDIRECTIONAL_SEQUENCE_LSTM",)
"""What these are in models."""
_MOST_PRODUCTS = GROUP_WORDS * INPUT_LANES
_ZERO_POINT = 0
"""What is subtracted from inputs of the array: biases have what zero points add."""


@dataclass(frozen=True, eq=False)
class _Product:
    """What the input or the hidden state adds to the gates of a row.

    Parameters
    ----------
    weights : int8 [4 units, inputs]
        The gates of a unit are next to each other.
    parameters : Parameters
        Of as many channels.
    """

    weights: NDArray[np.int8]
    parameters: Parameters

    @property
    def inputs(self) -> int:
        """What is multiplied for each gate."""
        return int(self.weights.shape[1])

    @property
    def channels(self) -> int:
        """Gates of all units."""
        return len(self.weights)


@limit(*RECURRENT_OPERATORS)
def recurrent_jobs(config: Config) -> str | None:
    """The engine has RECURRENT jobs: those whose names end in -recurrent."""
    if config.has_recurrent:
        return None
    return f"takes RECURRENT jobs, which {config.name} has not; engines with -recurrent have them"


@limit(*RECURRENT_OPERATORS, most=_MOST_PRODUCTS)
def products_of_a_gate(weights: NDArray[np.integer[Any]]) -> str | None:
    """An LSTM has up to {most} inputs, and as many units."""
    return exceeded(weights.shape[-1], _MOST_PRODUCTS, "inputs or units")


@limit(*RECURRENT_OPERATORS)
def sums_of_gates(item: _Product) -> str | None:
    """No sum of a gate, shifted left by its scale, needs more than 32 bits."""
    p = item.parameters
    sums = largest_sum(item.weights.astype(np.int16), _ZERO_POINT) + np.abs(p.bias.astype(np.int64))
    largest = int((sums << np.maximum(p.shift, 0).astype(np.int64)).max(initial=0))
    if largest <= INT32_MAX:
        return None
    return f"has sums of gates that may be as large as {largest:,}; the engine adds 32 bits"


@limit(*RECURRENT_OPERATORS)
def scales_of_hidden_states(params: Lstm) -> str | None:
    """The scale of an LSTM's hidden state is 2**-29 or more, as that of any model is."""
    if -MAX_HIDDEN_SHIFT <= params.hidden_shift < 0:
        return None
    return f"scales its hidden state by 2**{params.hidden_shift}"


_Limits = Limit[Config] | Limit[NDArray[np.integer[Any]]] | Limit[_Product] | Limit[Lstm]
RECURRENT_LIMITS: tuple[_Limits, ...] = (
    recurrent_jobs,
    products_of_a_gate,
    sums_of_gates,
    scales_of_hidden_states,
)
"""What must hold for an LSTM, and what an engine must have."""


def recurrent_decision(network: Network, position: int, config: Config) -> Decision:
    """Return how an engine computes an LSTM, or why not.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer of `RECURRENT_KERNELS`.
    config : Config
        With an engine.
    """
    try:
        require((recurrent_jobs,), config)
        require_common_limits(network, position, is_one_call=False)
        made = _of_shorts if network.layers[position].kernel is Kernel.SHORT_LSTM else _of_bytes
        return Decision((Candidate("", made(network, position, config)),))
    except BrokenLimitError as error:
        return Decision((), (Refusal("", error.why),))


def without_gates(operations: Mapping[int, Operation]) -> dict[int, Operation]:
    """Return operations without those that an LSTM of int16 computes as well.

    Parameters
    ----------
    operations : mapping of int to Operation
        What the engine computes, by position.
    """
    merged = {
        position
        for item in operations.values()
        if isinstance(item, RecurrentOperation)
        for position in item.merged
    }
    return {position: item for position, item in operations.items() if position not in merged}


def _of_bytes(network: Network, position: int, config: Config) -> RecurrentOperation:
    layer = network.layers[position]
    (steps,) = layer.more
    gates, params = layer.params, steps.params
    require((scales_of_hidden_states,), params)
    products = [_product(layer, gates), _product(steps, params)]
    for product in products:
        require((products_of_a_gate,), product.weights)
        require((sums_of_gates,), product)
    source, output = layer.tensors["input"], steps.tensors["output"]
    hidden, cell = steps.tensors["hidden"], steps.tensors["cell"]
    of_input, of_hidden = (
        _convolution(product, position, number, rows, tensor)
        for number, (product, rows, tensor) in enumerate(
            zip(products, (gates.rows, 1), (source, hidden), strict=True)
        )
    )
    return RecurrentOperation(
        position=position,
        inputs=(source, hidden, cell),
        output=output,
        window=Window.of_pixels(gates.rows, 1, gates.inputs),
        output_channels=params.units,
        clamp=(-128, 127),
        input_product=of_input,
        hidden_product=of_hidden,
        hidden=hidden,
        cell=cell,
        scales=_scales(params),
        batches=params.batches,
        step_count=params.steps,
        is_time_major=params.step_rows > 1,
    )


def _of_shorts(network: Network, position: int, config: Config) -> RecurrentOperation:
    steps = network.layers[position]
    params: Lstm = steps.params
    units, rows = params.units, params.batches * params.steps
    gates = _writer(network, steps.tensors["input"])
    layer = network.layers[gates]
    source, hidden, cell = layer.tensors["input"], steps.tensors["hidden"], steps.tensors["cell"]
    require((scales_of_hidden_states,), params)
    of_input = short_weights(layer)
    inputs = of_input.window.channels
    of_input = dataclasses.replace(of_input, window=Window.of_pixels(rows, 1, inputs))
    weights = steps.constants["weights"].astype(np.int16).reshape(GATES * units, 1, 1, units)
    scales = (np.tile(values, units) for values in (params.multiplier, params.shift))
    of_hidden = ShortWeights(
        Window.of_pixels(1, 1, units),
        is_depthwise=False,
        weights=weights,
        bias=np.zeros(GATES * units, np.int64),
        scale=exact_scale(*scales),
    )
    for item in (of_input, of_hidden):
        require((products_of_a_gate,), item.weights)
    planes, hidden_planes = (internal_tensor(position, number) for number in range(2))
    products = [
        in_two_passes(weighted_operation(item, at, there, internal_tensor(position, 2)), config)
        for item, at, there in (
            (of_input, gates, planes),
            (of_hidden, position, hidden_planes),
        )
    ]
    return RecurrentOperation(
        position=position,
        inputs=(source, hidden, cell),
        output=steps.tensors["output"],
        window=Window.of_pixels(rows, 1, SHORT_BYTES * inputs),
        output_channels=SHORT_BYTES * units,
        clamp=(-128, 127),
        merged=(gates,),
        input_product=products[0],
        hidden_product=products[1],
        hidden=hidden,
        cell=cell,
        scales=_scales(params),
        planes=_planes(position, of_input.window, params, (source, planes, hidden, hidden_planes)),
        batches=params.batches,
        step_count=params.steps,
        is_time_major=params.step_rows > 1,
    )


def _writer(network: Network, tensor: int) -> int:
    """Return the position of the layer that writes a tensor."""
    return next(
        position
        for position, layer in enumerate(network.layers)
        if any(call.tensors["output"] == tensor for call in layer.calls)
    )


def _planes(
    position: int, window: Window, params: Lstm, tensors: tuple[int, int, int, int]
) -> RecurrentPlanes:
    """Return the moves of the input and of the hidden state, given both tensors and planes."""
    source, planes, hidden, hidden_planes = tensors
    states = Window.of_pixels(params.batches, 1, params.units)
    image = Image(params.batches, 1, params.units)
    is_row = are_rows(states)
    return RecurrentPlanes(
        inputs=splitting_of(window, position, source, planes),
        hidden=splitting_of(states, position, hidden, hidden_planes),
        hidden_back=(joining_rows if is_row else joining)(position, hidden_planes, image, hidden),
        upper_step=params.units if is_row else padded(params.units),
    )


def _scales(params: Lstm) -> CellScales:
    return CellScales(
        cell_exponent=params.cell_exponent,
        cell_min=params.cell_min,
        cell_max=params.cell_max,
        hidden_multiplier=params.hidden_multiplier,
        hidden_shift=params.hidden_shift,
        hidden_offset=params.hidden_offset,
    )


def _product(call: Layer, params: LstmGates | Lstm) -> _Product:
    channels = GATES * params.units
    bias = call.constants.get("bias", np.zeros(channels, np.int32))
    scales = (np.tile(values, params.units) for values in (params.multiplier, params.shift))
    return _Product(
        call.constants["weights"].astype(np.int8).reshape(channels, -1),
        Parameters(bias.astype(np.int32), *(values.astype(np.int32) for values in scales)),
    )


def _convolution(
    product: _Product, position: int, number: int, rows: int, tensor: int
) -> Convolution:
    """Return a product of so many rows, whose results are int16."""
    return Convolution(
        position=position,
        inputs=(tensor,),
        output=internal_tensor(position, number),
        window=Window.of_pixels(rows, 1, product.inputs),
        output_channels=product.channels,
        clamp=(-128, 127),
        parameters=product.parameters,
        input_zero_point=_ZERO_POINT,
        output_zero_point=0,
        weights=product.weights.astype(np.int16)[:, None, None],
        is_wide=True,
        lower_step=padded(product.channels),
    )
