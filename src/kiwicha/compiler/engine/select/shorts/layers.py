"""From a layer of int16 to operations: planes, a convolution of them, and its results as int16."""

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.limits import limit, require
from kiwicha.compiler.engine.ir.operations import Operation, OperationSequence, internal_tensor
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Image, Window
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    WeightedOperation,
)
from kiwicha.compiler.engine.select.legalize import require_common_limits, window_of
from kiwicha.compiler.engine.select.shorts.convolutions import Part, in_two_passes
from kiwicha.compiler.engine.select.shorts.planes import (
    are_rows,
    joining,
    splitting,
    splitting_rows,
)
from kiwicha.compiler.engine.select.shorts.sums import (
    SUM_KERNELS,
    SUM_LIMITS,
    SUM_OPERATORS,
    sums_in_parts,
)
from kiwicha.compiler.engine.select.upright import upright
from kiwicha.compiler.lower.network import Layer, Network, weights_of
from kiwicha.contract.configs import Config
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.mean import Mean
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.short_conv import has_long_biases
from kiwicha.numerics.long_sums import exact_scale
from kiwicha.numerics.requantization import INT32_MAX
from kiwicha.program.weight_streams import Parameters

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
_PRODUCTS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
_CLAMPED = ("ADD", "AVERAGE_POOL_2D", "LEAKY_RELU", "MAX_POOL_2D", "MUL", "RELU6", "SUB")
SHORT_OPERATORS = (*_PRODUCTS, *SUM_OPERATORS)
"""What these are in models."""
_LARGEST = 1 << 15
_BYTE_VALUES = 256


@dataclass(frozen=True, eq=False)
class _ShortLayer:
    """A layer of int16 in the engine's terms; the scale is one of 32 bits, None if there is none.

    Weights are [O, H, W, I], of separate channels [H, W, C].
    """

    layer: Layer
    window: Window
    is_depthwise: bool
    weights: NDArray[np.int16]
    bias: NDArray[np.int64]
    scale: tuple[NDArray[np.int32], NDArray[np.int32]] | None

    @property
    def sums(self) -> NDArray[np.int64]:
        """The largest size of each channel's sums."""
        axes = (0, 1) if self.is_depthwise else (1, 2, 3)
        sizes: NDArray[np.int64] = np.abs(self.weights).sum(axis=axes, dtype=np.int64)
        return sizes * _LARGEST + np.abs(self.bias)


@limit(*_PRODUCTS, *_CLAMPED)
def shorts_of_whole_upper_bytes(clamp: tuple[int, int]) -> str | None:
    """The clamp of int16 is all of its range, or what an activation leaves of whole upper bytes."""
    low, high = clamp
    if low % _BYTE_VALUES == 0 and (high + 1) % _BYTE_VALUES == 0:
        return None
    return f"is limited to {low:,} to {high:,}, within an upper byte"


def _require_whole_upper_bytes(p: Conv | Pool | Mean) -> None:
    """Refuse parameters with a clamp that is within an upper byte."""
    if not isinstance(p, Mean):
        upper_clamp(p.activation_min, p.activation_max)


@limit(*_PRODUCTS)
def scales_of_shorts(item: _ShortLayer) -> str | None:
    """Scales of sums of 64 bits have no bits of less than 2**-31."""
    return "has a scale with bits of less than 2**-31" if item.scale is None else None


@limit(*_PRODUCTS)
def sums_of_shorts(item: _ShortLayer) -> str | None:
    """No sum of a layer of int16 needs more than 32 bits, whatever the inputs are."""
    largest = int(item.sums.max(initial=0))
    if item.scale is not None:
        largest = int((item.sums << np.maximum(item.scale[1], 0)).max(initial=0))
    if largest <= INT32_MAX:
        return None
    return f"has sums of int16 that may be as large as {largest:,}; the engine adds 32 bits"


_PRODUCT_LIMITS = (scales_of_shorts, sums_of_shorts)
SHORT_LIMITS = (shorts_of_whole_upper_bytes, *_PRODUCT_LIMITS, *SUM_LIMITS)
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
    return low // _BYTE_VALUES, high // _BYTE_VALUES


def _operation(layer: Layer, position: int, config: Config) -> Operation:
    planes, results = (internal_tensor(position, number) for number in range(2))
    parts: tuple[Part, ...] = ()
    if layer.kernel in SUM_KERNELS:
        _require_whole_upper_bytes(layer.params)
        parts = sums_in_parts(layer, position, planes, results)
        weighted = parts[0].operation
    else:
        item = _short_layer(layer)
        _require_whole_upper_bytes(layer.params)
        require(_PRODUCT_LIMITS, item)
        weighted = _weighted(item, position, planes, results)
    window = weighted.window
    inside = Image(window.input_rows, window.input_columns, window.channels)
    outside = Image(window.output_rows, window.output_columns, weighted.output_channels)
    split = splitting_rows if are_rows(window) else splitting
    return OperationSequence.of([
        split(position, layer.tensors["input"], inside, planes),
        in_two_passes(weighted, config, parts),
        joining(position, results, outside, layer.tensors["output"]),
    ])


def _short_layer(layer: Layer) -> _ShortLayer:
    p: Conv = layer.params
    weights = weights_of(layer)
    is_depthwise = layer.kernel is Kernel.SHORT_DEPTHWISE_CONV
    if is_depthwise:
        weights = weights.reshape(p.kernel_height, p.kernel_width, p.output_channels)
    else:
        shape = (p.output_channels, p.kernel_height, p.kernel_width, p.input_channels)
        weights = weights.reshape(shape)
    if is_depthwise and (p.depth_multiplier > 1 or p.input_channels == 1):
        is_depthwise, weights = False, _of_all_channels(p, weights)
    multiplier, shift = (layer.constants[name].astype(np.int32) for name in ("multiplier", "shift"))
    bias = layer.constants["bias"]
    window = window_of(layer)
    if is_depthwise:
        window, weights = _without_column_dilation(window, weights)
    return _ShortLayer(
        layer,
        window,
        is_depthwise,
        np.ascontiguousarray(weights),
        bias.astype(np.int64),
        exact_scale(multiplier, shift) if has_long_biases(bias) else (multiplier, shift),
    )


def _of_all_channels(p: Conv, taps: NDArray[np.int16]) -> NDArray[np.int16]:
    """Return weights [O, H, W, I] with zeros for the channels that an output does not read."""
    full = np.zeros((p.output_channels, *taps.shape[:2], p.input_channels), taps.dtype)
    outputs = np.arange(p.output_channels)
    full[outputs, :, :, outputs // p.depth_multiplier] = taps.transpose(2, 0, 1)
    return full


def _without_column_dilation(
    window: Window, taps: NDArray[np.int16]
) -> tuple[Window, NDArray[np.int16]]:
    """Return the window and the weights with zeros in the columns that dilation skips."""
    step = window.dilation_columns
    rows, columns, channels = taps.shape
    wide = np.zeros((rows, (columns - 1) * step + 1, channels), taps.dtype)
    wide[:, ::step] = taps
    window = dataclasses.replace(window, kernel_columns=wide.shape[1], dilation_columns=1)
    return window, wide


def _weighted(item: _ShortLayer, position: int, planes: int, results: int) -> WeightedOperation:
    assert item.scale is not None
    p: Conv = item.layer.params
    made = DepthwiseConvolution if item.is_depthwise else Convolution
    return made(
        position=position,
        inputs=(planes,),
        output=results,
        window=item.window,
        output_channels=len(item.bias),
        parameters=Parameters(item.bias.astype(np.int32), *item.scale),
        input_zero_point=0,
        output_zero_point=0,
        clamp=(p.activation_min // _BYTE_VALUES, p.activation_max // _BYTE_VALUES),
        weights=item.weights,
        is_wide=True,
    )
