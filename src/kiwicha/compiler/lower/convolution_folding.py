"""Operators that a convolution beside them takes over.

PAD before a convolution, or before several of them, becomes their padding. A convolution between
SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND of the same blocks becomes a dilated one: each phase of the
image meets the same taps as the whole image does at the distance of a block.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.tflite.graph import Graph, Operator, Padding
from kiwicha.compiler.tflite.shapes import pad_value, paddings
from kiwicha.compiler.tflite.windows import effective_size, padding_before
from kiwicha.kernels.conv import Conv

__all__ = ["Fold", "folded", "folds", "replaced_operators"]

_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D")
_PADS = ("PAD", "PADV2")


@dataclass(frozen=True)
class Fold:
    """What a convolution becomes.

    Parameters
    ----------
    source, target : int
        The tensors that it reads and writes.
    padding : tuple of int
        Rows above the source and columns left of it.
    dilation : tuple of int
        Distance of the taps in rows and columns.
    replaced : tuple of int
        Indices of the operators that it takes over.
    """

    source: int
    target: int
    padding: tuple[int, int]
    dilation: tuple[int, int]
    replaced: tuple[int, ...]


def folds(graph: Graph) -> dict[int, Fold]:
    """Return what convolutions take over, by index of the convolution."""
    users: Counter[int] = Counter(graph.outputs)
    for operator in graph.operators:
        users.update(set(operator.inputs))
    private = {tensor for tensor, count in users.items() if count == 1} - set(graph.outputs)
    writers = {operator.outputs[0]: operator for operator in graph.operators if operator.outputs}
    readers = {tensor: operator for operator in graph.operators for tensor in operator.inputs}
    found: dict[int, Fold] = {}
    for conv in graph.operators:
        if conv.name not in _CONVOLUTIONS:
            continue
        before = writers.get(conv.inputs[0])
        after = readers[conv.outputs[0]] if conv.outputs[0] in private else None
        fold = _padded(graph, before, conv)
        if fold is None and conv.inputs[0] in private:
            fold = _dilated(graph, before, conv, after)
        if fold is not None and _touches_everywhere(graph, conv, fold):
            found[conv.index] = fold
    return _with_whole_operators(graph, found)


def _with_whole_operators(graph: Graph, found: Mapping[int, Fold]) -> dict[int, Fold]:
    """Return what convolutions take over, without a PAD that something else still needs."""
    others = (operator for operator in graph.operators if operator.index not in found)
    needed = {*graph.outputs, *(tensor for operator in others for tensor in operator.inputs)}
    kept = {
        operator.index
        for operator in graph.operators
        if operator.name in _PADS and operator.outputs[0] in needed
    }
    return {
        index: dataclasses.replace(fold, replaced=tuple(k for k in fold.replaced if k not in kept))
        for index, fold in found.items()
    }


def folded(graph: Graph, layer: Layer, fold: Fold) -> Layer:
    """Return the layer of a convolution with what it takes over."""
    source, target = graph.tensors[fold.source], graph.tensors[fold.target]
    params: Conv = dataclasses.replace(
        layer.params,
        batches=source.shape[0],
        input_height=source.shape[1],
        input_width=source.shape[2],
        output_height=target.shape[1],
        output_width=target.shape[2],
        dilation_height=fold.dilation[0],
        dilation_width=fold.dilation[1],
        pad_top=fold.padding[0],
        pad_left=fold.padding[1],
    )
    return dataclasses.replace(
        layer,
        macs=layer.macs // graph.tensors[layer.tensors["output"]].elements * target.elements,
        params=params,
        tensors={**layer.tensors, "input": source.index, "output": target.index},
    )


def _padded(graph: Graph, pad: Operator | None, conv: Operator) -> Fold | None:
    if pad is None or pad.name not in _PADS:
        return None
    padded = graph.output(pad)
    assert padded.quantization is not None
    is_zero = pad_value(graph, pad) == padded.quantization.zero_point
    if not is_zero or len(padded.shape) != 4 or conv.options.padding is not Padding.VALID:
        return None
    batches, (top, _), (left, _), channels = paddings(graph, pad)
    if any((*batches, *channels)):
        return None
    dilation = (conv.options.dilation_height, conv.options.dilation_width)
    return Fold(pad.inputs[0], conv.outputs[0], (top, left), dilation, (pad.index,))


def _dilated(
    graph: Graph, before: Operator | None, conv: Operator, after: Operator | None
) -> Fold | None:
    if before is None or before.name != "SPACE_TO_BATCH_ND":
        return None
    if after is None or after.name != "BATCH_TO_SPACE_ND":
        return None
    options = conv.options
    steps = (
        *(options.stride_height, options.stride_width),
        *(options.dilation_height, options.dilation_width),
    )
    blocks = graph.input(before, 1).integers()
    if set(steps) != {1} or len(blocks) != 2 or blocks != graph.input(after, 1).integers():
        return None
    inner, outer = graph.input(conv), graph.output(conv)
    kernel = graph.input(conv, 1).shape[1:3]
    padding = [
        pad + block * padding_before(size, taps, 1, 1, outputs) - crop
        for (pad, _), (crop, _), block, size, taps, outputs in zip(
            paddings(graph, before, 2),
            paddings(graph, after, 2),
            blocks,
            inner.shape[1:3],
            kernel,
            outer.shape[1:3],
            strict=True,
        )
    ]
    return Fold(
        before.inputs[0],
        after.outputs[0],
        (padding[0], padding[1]),
        (blocks[0], blocks[1]),
        (before.index, after.index),
    )


def _touches_everywhere(graph: Graph, conv: Operator, fold: Fold) -> bool:
    """Whether the padding on each side is less than the kernel, and none is negative."""
    source, target = graph.tensors[fold.source].shape, graph.tensors[fold.target].shape
    kernel = graph.input(conv, 1).shape
    strides = (conv.options.stride_height, conv.options.stride_width)
    for axis in (1, 2):
        extent = effective_size(kernel[axis], fold.dilation[axis - 1])
        before = fold.padding[axis - 1]
        behind = (target[axis] - 1) * strides[axis - 1] + extent - before - source[axis]
        if not 0 <= before < extent or behind >= extent:
            return False
    return True


def replaced_operators(found: Mapping[int, Fold]) -> set[int]:
    """Return the indices of all operators that convolutions take over."""
    return {index for fold in found.values() for index in fold.replaced}
