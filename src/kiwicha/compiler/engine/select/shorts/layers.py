"""From a layer of int16 to operations: planes, a convolution of them, and its results as int16."""

from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Image
from kiwicha.compiler.engine.select.legalize import require_common_limits
from kiwicha.compiler.engine.select.shorts.convolutions import Part, in_two_passes
from kiwicha.compiler.engine.select.shorts.planes import joining, splitting_of
from kiwicha.compiler.engine.select.shorts.sums import (
    SUM_KERNELS,
    SUM_LIMITS,
    SUM_OPERATORS,
    sums_in_parts,
)
from kiwicha.compiler.engine.select.shorts.weights import (
    BYTE_VALUES,
    WEIGHTED_LIMITS,
    WEIGHTED_OPERATORS,
    short_weights,
    weighted_operation,
)
from kiwicha.compiler.engine.select.upright import upright
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.contract.configs import Config
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pool import Pool

__all__ = [
    "SHORT_KERNELS",
    "SHORT_LIMITS",
    "SHORT_OPERATORS",
    "short_decision",
    "upper_clamp",
    "without_jobs_of_int16",
]

SHORT_KERNELS = frozenset({
    Kernel.SHORT_CONV,
    Kernel.SHORT_DEPTHWISE_CONV,
    Kernel.SHORT_TRANSPOSE_CONV,
    *SUM_KERNELS,
})
"""Kernels of layers of int16 that an engine with jobs of int16 computes."""
_CLAMPED = ("ADD", "AVERAGE_POOL_2D", "LEAKY_RELU", "MAX_POOL_2D", "MUL", "RELU6", "SUB")
SHORT_OPERATORS = (*WEIGHTED_OPERATORS, *SUM_OPERATORS)
"""What these are in models."""


@limit(*WEIGHTED_OPERATORS, *_CLAMPED)
def shorts_of_whole_upper_bytes(clamp: tuple[int, int]) -> str | None:
    """The clamp of int16 is all of its range, or what an activation leaves of whole upper bytes."""
    low, high = clamp
    if low % BYTE_VALUES == 0 and (high + 1) % BYTE_VALUES == 0:
        return None
    return f"is limited to {low:,} to {high:,}, within an upper byte"


def _require_whole_upper_bytes(p: Conv | Pool | Mean) -> None:
    """Refuse parameters with a clamp that is within an upper byte."""
    if not isinstance(p, Mean):
        upper_clamp(p.activation_min, p.activation_max)


SHORT_LIMITS = (shorts_of_whole_upper_bytes, *WEIGHTED_LIMITS, *SUM_LIMITS)
"""What must hold for layers of int16."""


def short_decision(network: Network, position: int, config: Config) -> Decision:
    """Return how an engine computes a layer of int16, or why not.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of a layer of `SHORT_KERNELS`.
    config : Config
        With an engine.
    """
    layer = network.layers[position]
    if not config.has_int16:
        return without_jobs_of_int16(layer)
    turned = upright(layer)
    forms = [("", layer), *([] if turned is None else [("upright", turned)])]
    if turned is not None and layer.params.input_height == 1:
        # Neighbours whose images have one row are turned alike, however long that is.
        forms.reverse()
    candidates, refusals = [], []
    for name, form in forms:
        try:
            require_common_limits(network, position)
            candidates.append(Candidate(name, _operation(form, position, config)))
        except BrokenLimitError as error:
            refusals.append(Refusal(name, error.why))
    return Decision(tuple(candidates), tuple(refusals))


def without_jobs_of_int16(layer: Layer) -> Decision:
    """Return why an engine without jobs of int16 does not compute a layer that others do."""
    why = f"is {layer.name} of int16, which engines with -int16 in their names compute"
    return Decision((), (Refusal("", why),))


def upper_clamp(low: int, high: int) -> tuple[int, int]:
    """Return the limits of upper bytes that a clamp of int16 is.

    Raises
    ------
    BrokenLimitError
        If it is within an upper byte.
    """
    require((shorts_of_whole_upper_bytes,), (low, high))
    return low // BYTE_VALUES, high // BYTE_VALUES


def _operation(layer: Layer, position: int, config: Config) -> Operation:
    planes, results = (internal_tensor(position, number) for number in range(2))
    parts: tuple[Part, ...] = ()
    if layer.kernel in SUM_KERNELS:
        _require_whole_upper_bytes(layer.params)
        parts = sums_in_parts(layer, position, planes, results)
        weighted = parts[0].operation
    else:
        _require_whole_upper_bytes(layer.params)
        weighted = weighted_operation(short_weights(layer), position, planes, results)
    window = weighted.window
    outside = Image(window.output_rows, window.output_columns, weighted.output_channels)
    return OperationSequence.of([
        splitting_of(window, position, layer.tensors["input"], planes),
        in_two_passes(weighted, config, parts),
        joining(position, results, outside, layer.tensors["output"]),
    ])
