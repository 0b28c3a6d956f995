"""From a layer to an operation, where every number fits the engine."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.engine.ir.limits import SPREAD_LIMITS, Limit, limit, require
from kiwicha.compiler.engine.ir.operations import Operation
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.selection import Candidate, Decision, Refusal
from kiwicha.compiler.engine.ir.window import Window
from kiwicha.compiler.engine.select.convolutions.forms import forms
from kiwicha.compiler.engine.select.convolutions.weighted import WeightedLayer
from kiwicha.compiler.engine.select.elements.elementwise import element_operation
from kiwicha.compiler.engine.select.elements.pair_forms import pair_forms
from kiwicha.compiler.engine.select.elements.short_edges import requantized_shorts
from kiwicha.compiler.engine.select.elements.wrapped_offsets import wrapped_offset
from kiwicha.compiler.engine.select.moves.moves import is_move, move_candidates
from kiwicha.compiler.engine.select.reductions.extremes import (
    EXTREME_KERNELS,
    EXTREME_OPERATORS,
    extreme_forms,
)
from kiwicha.compiler.engine.select.reductions.max_pools import max_pool_forms
from kiwicha.compiler.engine.select.reductions.means import columns_of_sums, mean, rows_of_sums
from kiwicha.compiler.engine.select.reductions.pools import average_pool
from kiwicha.compiler.engine.select.resize.resize import resize_forms
from kiwicha.compiler.engine.select.softmax.softmax import SOFTMAX_KERNELS, softmax_forms
from kiwicha.compiler.engine.select.upright import has_long_rows, is_too_long, upright
from kiwicha.compiler.lower.network import Layer, Network
from kiwicha.compiler.optimize.byte_tables import PAIR_KERNELS
from kiwicha.compiler.tflite.operators import Family, of_family
from kiwicha.compiler.tflite.recurrent import SVDF
from kiwicha.compiler.tflite.tensor import TensorType
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.program.weight_streams import Parameters

__all__ = [
    "COMMON_LIMITS",
    "is_weighted",
    "legalize",
    "oriented",
    "require_common_limits",
    "weighted_layer",
    "window_of",
]

_WEIGHTED_KERNELS = frozenset({
    Kernel.CONV,
    Kernel.TRANSPOSE_CONV,
    Kernel.DEPTHWISE_CONV,
    Kernel.FULLY_CONNECTED,
})
"""Kernels with weights for each output channel."""
_ELEMENT_KERNELS = frozenset({*PAIR_KERNELS, Kernel.LOOKUP, Kernel.QUANTIZE})
_POOLS = (Kernel.AVERAGE_POOL, Kernel.MAX_POOL)
_LONG_KERNELS = _WEIGHTED_KERNELS.union(_POOLS)
"""Kernels of windows, which may be turned."""
_KERNELS = frozenset({
    *(*_WEIGHTED_KERNELS, *_ELEMENT_KERNELS, *_POOLS),
    *(*EXTREME_KERNELS, Kernel.MEAN, Kernel.RESIZE_BILINEAR, *SOFTMAX_KERNELS),
    Kernel.REQUANTIZE,
})
_WINDOWS = (
    *("CONV_2D", "TRANSPOSE_CONV", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"),
    *("AVERAGE_POOL_2D", "MAX_POOL_2D", "MEAN", "SUM", "RESIZE_BILINEAR"),
    *("ARG_MAX", "ARG_MIN", *EXTREME_OPERATORS, "SVDF", "BATCH_MATMUL"),
)
_LOOKUPS = ("CAST", "DIV", *of_family(Family.UNARY))
_PAIRS = ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU", "SQUARED_DIFFERENCE")
_CONVERSIONS = ("CAST", "DEQUANTIZE", "QUANTIZE")
_ELEMENTS = (*_PAIRS, *_LOOKUPS)
_SOFTMAX = ("LOG_SOFTMAX", "SOFTMAX")


@dataclass(frozen=True, eq=False)
class _Call:
    """A layer, and what its tensors are."""

    network: Network
    layer: Layer


@limit(*_WINDOWS, *_ELEMENTS, *_SOFTMAX)
def one_call(item: _Call) -> str | None:
    """The layer is one kernel call."""
    count = len(item.layer.calls)
    return f"takes {count} kernel calls; the engine takes layers of one" if count > 1 else None


@limit(*_WINDOWS, *_ELEMENTS, *_SOFTMAX)
def whole_tensors(item: _Call) -> str | None:
    """The layer reads and writes whole tensors, not a part of a tensor that holds several."""
    for name, (first, count) in sorted(item.layer.ranges.items()):
        verb = "writes" if name == "output" else "reads"
        return f"{verb} {count:,} bytes from byte {first:,} on of a tensor, not a whole one"
    return None


@limit(*_WINDOWS, *_LOOKUPS, *_SOFTMAX)
def computed_input(item: _Call) -> str | None:
    """The input is computed, not a constant."""
    source = item.layer.tensors.get("input")
    is_constant = source is not None and item.network.tensors[source].is_constant
    return "has a constant input; the engine takes what is computed" if is_constant else None


COMMON_LIMITS: tuple[Limit[_Call], ...] = (one_call, whole_tensors, computed_input)
"""What must hold for layers of any kind."""


def require_common_limits(network: Network, position: int, *, is_one_call: bool = True) -> None:
    """Refuse a layer that breaks a limit which is common to all kinds.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    is_one_call : bool
        Refuse layers of several kernel calls as well.

    Raises
    ------
    BrokenLimitError
        With the first limit that is broken.
    """
    limits = COMMON_LIMITS if is_one_call else [item for item in COMMON_LIMITS if item != one_call]
    require(limits, _Call(network, network.layers[position]))


def legalize(network: Network, position: int) -> Decision:
    """Return the best form in which one operation computes a layer, and why not better ones.

    Parameters
    ----------
    network : Network
        The model.
    position : int
        Position of the layer.
    """
    layer = network.layers[position]
    if layer.kernel is None:
        return Decision()
    is_known = layer.kernel in _KERNELS
    if not is_known and not is_move(layer):
        why = f"is {layer.name}{_kind(network, layer)}, which the engine does not compute"
        return Decision((), (Refusal("", why),))
    try:
        if is_move(layer):
            return Decision(tuple(move_candidates(network, position)))
        require_common_limits(network, position)
        return _oriented(network, position)
    except BrokenLimitError as error:
        return Decision((), (Refusal("", error.why),))


def _kind(network: Network, layer: Layer) -> str:
    """Return what is special about a layer whose operator the engine may compute otherwise."""
    if layer.kernel is Kernel.GATHER:
        return " with computed indices"
    if layer.kernel is Kernel.ARG_MAX_OF_PARTS:
        return " of the largest bytes of parts"
    kinds = [
        network.tensors[index].type for name, index in layer.tensors.items() if name != "output"
    ]
    if layer.name in _CONVERSIONS and kinds:
        return f" from {kinds[0].text} to {network.tensors[layer.tensors['output']].type.text}"
    return "" if TensorType.INT8 in kinds else f" of {kinds[0].text}"


def _oriented(network: Network, position: int) -> Decision:
    """Return the same of a layer that computes, and breaks no common limit.

    If its rows may find no room, it has them upright as well.
    """
    layer = oriented(network, position)
    found = _decision(network, position, layer)
    turned = upright(layer) if layer.kernel in _LONG_KERNELS and has_long_rows(layer) else None
    if turned is None:
        return found
    try:
        others = _decision(network, position, turned).candidates
    except BrokenLimitError:
        return found
    named = (Candidate(item.form or "upright", item.operation) for item in others)
    return Decision((*found.candidates, *named), found.refusals)


def oriented(network: Network, position: int) -> Layer:
    """Return a layer as the engine can take it: upright if it cannot step over its rows."""
    layer = network.layers[position]
    turned = upright(layer) if layer.kernel in _LONG_KERNELS and is_too_long(layer) else None
    return layer if turned is None else turned


def _decision(network: Network, position: int, layer: Layer) -> Decision:
    """Return the same, given the layer as it is oriented."""
    kernel = layer.kernel
    assert kernel is not None
    if kernel in _FORMS:
        return _FORMS[kernel](network, position)
    if kernel in _LAYER_FORMS:
        return _LAYER_FORMS[kernel](layer, position)
    whole = Candidate("", _operation(network, position, layer))
    short = wrapped_offset(network, position) if _adds_an_offset(layer) else None
    return Decision((whole,) if short is None else (Candidate("without a table", short), whole))


def _adds_an_offset(layer: Layer) -> bool:
    """Whether a layer is that part of an SVDF which adds a zero point."""
    return layer.name == SVDF and layer.kernel is Kernel.LOOKUP


def _weighted(layer: Layer, position: int) -> Decision:
    """Return the same of a layer with weights."""
    refusals: list[Refusal] = []
    for form in forms(layer, weighted_layer(layer, position)):
        try:
            return Decision((Candidate(form.name, form.operation()),), tuple(refusals))
        except BrokenLimitError as error:
            refusals.append(Refusal(form.name, error.why))
    return Decision(tuple(_in_parts_of_rows(layer, position)), tuple(refusals))


def _in_parts_of_rows(layer: Layer, position: int) -> Iterator[Candidate]:
    """Yield forms of a layer with weights whose whole rows break a limit."""
    for form in forms(layer, weighted_layer(layer, position)):
        if layer.kernel is not Kernel.TRANSPOSE_CONV and form.limits is not SPREAD_LIMITS:
            with suppress(BrokenLimitError):
                name = f"{form.name}, in parts of rows" if form.name else "in parts of rows"
                yield Candidate(name, form.in_parts_of_rows())


def _max_pool(layer: Layer, position: int) -> Decision:
    """Return the same of a MAX_POOL_2D."""
    return max_pool_forms(layer.params, position, layer.tensors["input"], layer.tensors["output"])


def _reduction(layer: Layer, position: int) -> Decision:
    """Return the same of a MEAN or SUM."""
    tensors = layer.tensors["input"], layer.tensors["output"]
    candidates: list[Candidate] = []
    refusals: list[Refusal] = []
    forms_of_sums = (
        ("as a convolution", rows_of_sums),
        ("", mean),
        ("by columns", columns_of_sums),
    )
    for form, made in forms_of_sums:
        try:
            operation = made(layer.params, position, *tensors)
        except BrokenLimitError as error:
            refusals.append(Refusal(form, error.why))
        else:
            candidates += [Candidate(form, operation)] if operation is not None else []
    return Decision(tuple(candidates), tuple(refusals))


_FORMS: dict[Kernel, Callable[[Network, int], Decision]] = {
    **dict.fromkeys(SOFTMAX_KERNELS, softmax_forms),
    **dict.fromkeys(PAIR_KERNELS, pair_forms),
    **dict.fromkeys(EXTREME_KERNELS, extreme_forms),
}
"""What gives the forms of layers of a kernel."""
_LAYER_FORMS: dict[Kernel, Callable[[Layer, int], Decision]] = {
    **dict.fromkeys(_WEIGHTED_KERNELS, _weighted),
    Kernel.MAX_POOL: _max_pool,
    Kernel.MEAN: _reduction,
    Kernel.RESIZE_BILINEAR: resize_forms,
}
"""The same where the layer, as it is oriented, says all. Of other kernels there is one form."""


def is_weighted(network: Network, position: int) -> bool:
    """Whether a layer has weights, and breaks no limit that is common to all layers."""
    layer = network.layers[position]
    if layer.kernel not in _WEIGHTED_KERNELS:
        return False
    return all(item.check(_Call(network, layer)) is None for item in COMMON_LIMITS)


def _operation(network: Network, position: int, layer: Layer) -> Operation:
    """Return the operation of a layer without weights."""
    assert layer.kernel is not None
    if layer.kernel is Kernel.REQUANTIZE:
        return requantized_shorts(network, position)
    if layer.kernel is not Kernel.AVERAGE_POOL:
        return element_operation(network, position)
    tensors = layer.tensors["input"], layer.tensors["output"]
    return average_pool(layer.params, position, *tensors)


def weighted_layer(layer: Layer, position: int) -> WeightedLayer:
    """Return a layer with weights in the engine's terms, but for its weights."""
    p: Conv = layer.params
    return WeightedLayer(
        position=position,
        input=layer.tensors["input"],
        output=layer.tensors["output"],
        window=window_of(layer),
        parameters=Parameters(
            *(layer.constants[name].astype(np.int32) for name in ("bias", "multiplier", "shift"))
        ),
        input_zero_point=-p.input_offset,
        output_zero_point=p.output_offset,
        clamp=(p.activation_min, p.activation_max),
        weight_zero_point=-p.weight_offset,
    )


def window_of(layer: Layer) -> Window:
    """Return the geometry of a layer with weights, of all its images."""
    p: Conv = layer.params
    is_dense = layer.kernel is Kernel.FULLY_CONNECTED
    window = Window(
        # Rows of one pixel can be cut into stripes; a job takes them for one row.
        input_rows=p.batches if is_dense else p.input_height,
        input_columns=p.input_width,
        channels=p.input_channels,
        output_rows=p.batches if is_dense else p.output_height,
        output_columns=p.output_width,
        kernel_rows=p.kernel_height,
        kernel_columns=p.kernel_width,
        stride_rows=p.stride_height,
        stride_columns=p.stride_width,
        dilation_rows=p.dilation_height,
        dilation_columns=p.dilation_width,
        pad_top=p.pad_top,
        pad_left=p.pad_left,
        is_transposed=layer.kernel in {Kernel.TRANSPOSE_CONV, Kernel.SHORT_TRANSPOSE_CONV},
    )
    return window if is_dense else window.repeated(p.batches)
