"""Support rules of signal operators."""

from collections.abc import Callable, Iterator

import numpy as np

from kiwicha.compiler.check.rules import Problem
from kiwicha.compiler.check.signal_streams import STREAM_PROBLEMS, stream_shape
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.signal_operators import (
    ENERGY,
    FILTER_BANK,
    IRFFT,
    PCAN,
    RFFT,
    SPECTRAL_SUBTRACTION,
    TAPER,
    Operand,
    signal_kind,
    signal_name,
    signal_options,
)
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.program import MAX_RANK
from kiwicha.numerics.sound import GAIN_ENTRIES

__all__ = ["SIGNAL_RULE", "signal_problems"]

SIGNAL_RULE = (
    "Signal operators have the types and numbers of dimensions that TensorFlow Lite Micro asks "
    "for, and fixed shapes that fit each other; weights, tables and what describes filters are "
    "constants. Fourier transforms are of int16, and of a power of two, 4 to 32768. Weights of "
    "filters are 0 or more. SignalFramer takes whole steps, SignalStacker steps of at most the "
    "frames that it stacks, SignalOverlapAdd of at most a frame; SignalDelay is of at most 2**20 "
    "samples."
)


def signal_problems(graph: Graph, operator: Operator) -> Iterator[Problem]:
    """Yield what is wrong with a signal operator; nothing if it is supported."""
    kind = signal_kind(operator)
    for what, wanted, found in (
        ("inputs", kind.inputs, operator.inputs),
        ("outputs", kind.outputs, operator.outputs),
    ):
        if len(found) != len(wanted) or -1 in found:
            present = sum(index != -1 for index in found)
            yield Problem(f"number of {what} must be {len(wanted)}, not {present}")
            return
    pairs = [
        *zip(kind.inputs, operator.inputs, strict=True),
        *zip(kind.outputs, operator.outputs, strict=True),
    ]
    found_problems = [p for wanted, i in pairs for p in _operand_problems(wanted, graph.tensors[i])]
    options = signal_options(operator)
    for name, (least, most) in kind.options.items():
        if not least <= options[name] <= most:
            text = f"{name} must be {least} to {most}, not {options[name]}"
            found_problems.append(Problem(text))
    yield from found_problems
    if not found_problems:
        yield from map(Problem, _shape_problems(graph, operator, options))


def _operand_problems(wanted: Operand, tensor: Tensor) -> Iterator[Problem]:
    if tensor.type is not wanted.type:
        text = f"{wanted.name} must be {wanted.type.text}, not {tensor.type.text}"
        yield Problem(text, tensor, is_about_type=True)
    rank = len(tensor.shape)
    if wanted.rank is not None and rank != wanted.rank:
        yield Problem(f"{wanted.name} must have {wanted.rank} dimensions, not {rank}", tensor)
    fixed = not any(size < 1 for size in tensor.shape) and -1 not in tensor.shape_signature
    if (wanted.rank is None and not 1 <= rank <= MAX_RANK) or not fixed:
        shape = list(tensor.shape_signature or tensor.shape)
        text = f"{wanted.name} must have 1 to {MAX_RANK} fixed dimensions of 1 or more, not {shape}"
        yield Problem(text, tensor)
    if tensor.is_constant != wanted.is_constant:
        have, want = ("a constant", "computed")[:: 1 if tensor.is_constant else -1]
        yield Problem(f"{wanted.name} must be {want}, not {have}", tensor)
    if tensor.is_variable or tensor.is_sparse:
        yield Problem(f"{wanted.name} must be a dense tensor that keeps nothing", tensor)


def _shape_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    """Yield what does not fit among operands that are right each for itself."""
    name = signal_name(operator)
    shape = graph.input(operator).shape
    wanted: tuple[int, ...] = shape
    problems = list(_OTHERS[name](graph, operator, options)) if name in _OTHERS else []
    yield from problems
    if name in STREAM_PROBLEMS:
        if problems:
            return
        wanted = stream_shape(graph, operator)
    if name in {RFFT, IRFFT}:
        length = options["fft_length"]
        wanted = (*shape[:-1], length + 2 if name == RFFT else length)
    elif name == ENERGY:
        wanted = (shape[0] // 2,)
    elif name in {FILTER_BANK, SPECTRAL_SUBTRACTION}:
        wanted = (options["num_channels"],)
    for operand, index in zip(signal_kind(operator).outputs, operator.outputs, strict=True):
        found = graph.tensors[index].shape
        if operand.rank != 0 and found != wanted:
            yield f"{operand.name} must have shape {list(wanted)}, not {list(found)}"


def _taper_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    (size,) = graph.input(operator, 1).shape
    samples = graph.input(operator).shape[-1]
    if samples != size:
        yield f"weights must be as many as samples of a frame, {samples}, not {size}"


def _length_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    length, numbers = options["fft_length"], graph.input(operator).shape[-1]
    is_inverse = signal_name(operator) == IRFFT
    if length & (length - 1):
        yield f"fft_length must be a power of two, not {length}"
    if is_inverse and numbers != length + 2:
        yield f"frame must have fft_length + 2 numbers, {length + 2}, not {numbers}"
    if not is_inverse and numbers > length:
        yield f"frame must have at most fft_length samples, {length}, not {numbers}"


def _energy_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    first, end = options["start_index"], options["end_index"]
    numbers = graph.input(operator).shape[0]
    if numbers % 2:
        yield f"input must be pairs of numbers, not {numbers}"
    if not first <= end <= numbers // 2:
        yield (
            f"start_index and end_index must ascend up to the {numbers // 2} frequencies, not be "
            f"{first} and {end}"
        )


def _channel_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    (count,), wanted = graph.input(operator).shape, options["num_channels"]
    if count != wanted:
        yield f"input must have num_channels elements, {wanted}, not {count}"


def _gain_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    (count,) = graph.input(operator, 2).shape
    if count != GAIN_ENTRIES:
        yield f"gains must be {GAIN_ENTRIES}, not {count}"
    shape, noise = graph.input(operator).shape, graph.input(operator, 1).shape
    if noise != shape:
        yield f"noise estimate must have shape {list(shape)}, not {list(noise)}"


def _band_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    channels = options["num_channels"]
    (size,) = graph.input(operator).shape
    names = [operand.name for operand in signal_kind(operator).inputs]
    values = [_shorts(graph.input(operator, position)) for position in range(1, 6)]
    weights, unweights, *bands = values
    if weights.size != unweights.size:
        yield f"unweights must be as many as weights, {weights.size}, not {unweights.size}"
    for what, item in zip(names[1:3], values[:2], strict=True):
        if item.min() < 0:
            yield f"{what} must be 0 or more, not {item.min()}"
    for what, item in zip(names[3:], bands, strict=True):
        if item.size != channels + 1:
            yield f"{what} must have num_channels + 1 elements, {channels + 1}, not {item.size}"
            return
    starts, first_weights, widths = bands
    for what, first, most in (
        ("frequencies", starts, size),
        ("weights", first_weights, min(weights.size, unweights.size)),
    ):
        ends = first + widths
        wrong = np.flatnonzero((first < 0) | (widths < 0) | (ends > most))
        if wrong.size:
            k = int(wrong[0])
            yield f"{what} of channel {k} must be among {most}, not {first[k]} to {ends[k]}"


def _shorts(tensor: Tensor) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    assert tensor.data is not None
    return tensor.data.view("<i2").astype(np.int64)


_OTHERS: dict[str, Callable[[Graph, Operator, dict[str, int]], Iterator[str]]] = {
    TAPER: _taper_problems,
    RFFT: _length_problems,
    IRFFT: _length_problems,
    ENERGY: _energy_problems,
    FILTER_BANK: _band_problems,
    SPECTRAL_SUBTRACTION: _channel_problems,
    PCAN: _gain_problems,
    **STREAM_PROBLEMS,
}
"""What else must hold for some operators."""
