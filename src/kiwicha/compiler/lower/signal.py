"""Lowering of signal operators."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.network import Layer, Values
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.signal_operators import (
    DELAY,
    ENERGY,
    FFT_AUTO_SCALE,
    FILTER_BANK,
    FILTER_BANK_LOG,
    FRAMER,
    IRFFT,
    OVERLAP_ADD,
    PCAN,
    RFFT,
    SPECTRAL_SUBTRACTION,
    SQUARE_ROOT,
    STACKER,
    TAPER,
    signal_options,
)
from kiwicha.compiler.tflite.signal_states import frames_of
from kiwicha.compiler.tflite.tensor import Tensor
from kiwicha.contract.layout import Ref, Struct
from kiwicha.contract.program import Kernel
from kiwicha.kernels.signal_bank import (
    SignalFilterBank,
    SignalGain,
    SignalLog,
    SignalSquareRoot,
    SignalSubtraction,
)
from kiwicha.kernels.signal_frame import (
    SignalEnergy,
    SignalScale,
    SignalScaleBits,
    SignalTaper,
)
from kiwicha.kernels.signal_stream import COUNTS, VALID, SignalFrames, SignalOverlapAdd
from kiwicha.kernels.signal_transform import SignalTransform
from kiwicha.numerics import fourier, sound

__all__ = ["lower_signal"]

_STATE = 1
"""Where the input is that `with_signals` adds to those of operators that keep something."""
_SHORT_BYTES = 2


def lower_signal(graph: Graph, operator: Operator) -> Layer:
    """Return the layer of a signal operator."""
    return _LOWERINGS[operator.name](graph, operator)


def _layer(
    operator: Operator,
    kernel: Kernel,
    params: Struct,
    tensors: Mapping[str, int],
    constants: Mapping[str, Values] | None = None,
    *more: Layer,
) -> Layer:
    return Layer(
        operator.index,
        operator.name,
        kernel=kernel,
        params=params,
        tensors=tensors,
        constants=constants or {},
        more=more,
    )


def _ends(operator: Operator) -> dict[str, int]:
    return {"input": operator.inputs[0], "output": operator.outputs[0]}


def _shorts(tensor: Tensor) -> NDArray[np.int16]:
    assert tensor.data is not None
    return tensor.data.view("<i2")


def _taper(graph: Graph, operator: Operator) -> Layer:
    source, weights = graph.input(operator), graph.input(operator, 1)
    params = SignalTaper(
        *(Ref(), Ref(), Ref()),
        rows=source.elements // weights.elements,
        size=weights.elements,
        shift=signal_options(operator)["shift"],
    )
    tensors = {**_ends(operator), "weights": weights.index}
    return _layer(operator, Kernel.SIGNAL_TAPER, params, tensors)


def _auto_scale(graph: Graph, operator: Operator) -> Layer:
    size = graph.input(operator).elements
    output, bits = operator.outputs
    scale = _layer(
        operator,
        Kernel.SIGNAL_SCALE,
        SignalScale(Ref(), Ref(), Ref(), size=size),
        {"input": operator.inputs[0], "bits": bits, "output": output},
    )
    tensors = {"input": operator.inputs[0], "output": bits}
    params = SignalScaleBits(Ref(), Ref(), size=size)
    return _layer(operator, Kernel.SIGNAL_SCALE_BITS, params, tensors, None, scale)


def _transform(graph: Graph, operator: Operator) -> Layer:
    is_inverse = operator.name == IRFFT
    source, half = graph.input(operator), signal_options(operator)["fft_length"] // 2
    params = SignalTransform(
        *(Ref(), Ref(), Ref(), Ref(), Ref()),
        rows=source.elements // source.shape[-1],
        samples=2 * half if is_inverse else source.shape[-1],
        half=half,
    )
    constants: dict[str, Values] = {
        "twiddles": fourier.twiddles(half, is_inverse=is_inverse).astype("<i2"),
        "super_twiddles": fourier.super_twiddles(half, is_inverse=is_inverse).astype("<i2"),
        "positions": fourier.positions(half).astype("<u2"),
    }
    kernel = Kernel.SIGNAL_IRFFT if is_inverse else Kernel.SIGNAL_RFFT
    return _layer(operator, kernel, params, _ends(operator), constants)


def _energy(graph: Graph, operator: Operator) -> Layer:
    options = signal_options(operator)
    params = SignalEnergy(
        *(Ref(), Ref()),
        size=graph.output(operator).elements,
        first=options["start_index"],
        end=options["end_index"],
    )
    return _layer(operator, Kernel.SIGNAL_ENERGY, params, _ends(operator))


def _filter_bank(graph: Graph, operator: Operator) -> Layer:
    params = SignalFilterBank(
        *(Ref(), Ref(), Ref(), Ref(), Ref()),
        size=graph.input(operator).elements,
        weight_count=graph.input(operator, 1).elements,
        channels=graph.output(operator).elements,
    )
    bands = np.stack([_shorts(graph.input(operator, position)) for position in (3, 4, 5)], axis=1)
    tensors = {**_ends(operator), "weights": operator.inputs[1], "unweights": operator.inputs[2]}
    constants: dict[str, Values] = {"bands": np.ascontiguousarray(bands)}
    return _layer(operator, Kernel.SIGNAL_FILTER_BANK, params, tensors, constants)


def _square_root(graph: Graph, operator: Operator) -> Layer:
    params = SignalSquareRoot(Ref(), Ref(), Ref(), channels=graph.output(operator).elements)
    tensors = {**_ends(operator), "bits": operator.inputs[1]}
    return _layer(operator, Kernel.SIGNAL_SQUARE_ROOT, params, tensors)


def _subtraction(graph: Graph, operator: Operator) -> Layer:
    options = signal_options(operator)
    state, estimate = operator.inputs[_STATE], graph.tensors[operator.outputs[1]]
    params = SignalSubtraction(
        *(Ref(), Ref(), Ref()),
        channels=graph.output(operator).elements,
        newest=(options["smoothing"], options["alternate_smoothing"]),
        rest=(options["one_minus_smoothing"], options["alternate_one_minus_smoothing"]),
        least=options["min_signal_remaining"],
        noise_bits=options["smoothing_bits"],
        fraction_bits=options["spectral_subtraction_bits"],
        is_clamped=options["clamping"],
    )
    whole = View.of(estimate.shape)
    copy = byte_copy(whole, whole, 4)
    shown = _layer(operator, Kernel.COPY, copy.params, {"input": state, "output": estimate.index})
    tensors = {**_ends(operator), "noise": state}
    return _layer(operator, Kernel.SIGNAL_SUBTRACTION, params, tensors, None, shown)


def _gain(graph: Graph, operator: Operator) -> Layer:
    params = SignalGain(
        *(Ref(), Ref(), Ref(), Ref()),
        channels=graph.output(operator).elements,
        shift=signal_options(operator)["snr_shift"],
    )
    tensors = {**_ends(operator), "noise": operator.inputs[1], "gains": operator.inputs[2]}
    return _layer(operator, Kernel.SIGNAL_PCAN, params, tensors)


def _log(graph: Graph, operator: Operator) -> Layer:
    options = signal_options(operator)
    params = SignalLog(
        *(Ref(), Ref(), Ref()),
        channels=graph.output(operator).elements,
        scale=options["output_scale"],
        shift=options["input_correction_bits"],
    )
    constants: dict[str, Any] = {"points": sound.log_points()}
    return _layer(operator, Kernel.SIGNAL_LOG, params, _ends(operator), constants)


def _frames(graph: Graph, operator: Operator) -> Layer:
    found, state = frames_of(graph, operator), operator.inputs[_STATE]
    params = SignalFrames(
        *(Ref(), Ref(), Ref()),
        rows=found.rows,
        frames=found.frames,
        step=found.step,
        size=found.size,
        kept=found.kept,
        period=found.period,
        copies=found.copies,
    )
    more = []
    for validity in operator.outputs[1:]:
        flag = View.of((1,))
        copy = byte_copy(flag, flag, 1)
        place = _SHORT_BYTES * (graph.tensors[state].elements - COUNTS + VALID)
        shown = _layer(operator, Kernel.COPY, copy.params, {"input": state, "output": validity})
        more.append(dataclasses.replace(shown, ranges={"input": (place, 1), "output": (0, 1)}))
    tensors = {**_ends(operator), "state": state}
    return _layer(operator, Kernel.SIGNAL_FRAMES, params, tensors, None, *more)


def _overlap_add(graph: Graph, operator: Operator) -> Layer:
    source = graph.input(operator)
    *_, frames, size = source.shape
    step = signal_options(operator)["frame_step"]
    if step == size:
        whole = View.of((source.elements,))
        copy = byte_copy(whole, whole, _SHORT_BYTES)
        layer = _layer(operator, Kernel.COPY, copy.params, _ends(operator))
        return dataclasses.replace(layer, ranges={"input": copy.source, "output": copy.target})
    params = SignalOverlapAdd(
        *(Ref(), Ref(), Ref()),
        rows=source.elements // (frames * size),
        frames=frames,
        step=step,
        size=size,
    )
    tensors = {**_ends(operator), "sums": operator.inputs[_STATE]}
    return _layer(operator, Kernel.SIGNAL_OVERLAP_ADD, params, tensors)


_LOWERINGS: dict[str, Callable[[Graph, Operator], Layer]] = {
    TAPER: _taper,
    FFT_AUTO_SCALE: _auto_scale,
    RFFT: _transform,
    IRFFT: _transform,
    ENERGY: _energy,
    FILTER_BANK: _filter_bank,
    SQUARE_ROOT: _square_root,
    SPECTRAL_SUBTRACTION: _subtraction,
    PCAN: _gain,
    FILTER_BANK_LOG: _log,
    FRAMER: _frames,
    STACKER: _frames,
    DELAY: _frames,
    OVERLAP_ADD: _overlap_add,
}
