"""What signal operators keep from one inference to the next."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from kiwicha.compiler.tflite.graph import Graph, Operator, State
from kiwicha.compiler.tflite.signal_operators import (
    DELAY,
    FRAMER,
    OVERLAP_ADD,
    SPECTRAL_SUBTRACTION,
    STACKER,
    is_signal,
    signal_name,
    signal_options,
)
from kiwicha.compiler.tflite.tensor import Tensor, TensorType

__all__ = ["FRAMED", "Frames", "frames_of", "with_signals"]

FRAMED = frozenset({FRAMER, STACKER, DELAY})
"""Signal operators whose output is frames of a line of samples."""


@dataclass(frozen=True)
class Frames:
    """Where frames of lines of samples are, of which some are kept.

    Parameters
    ----------
    rows, frames : int
        Lines, and frames of each in an inference.
    step, size : int
        Samples from frame to frame, and of a frame.
    kept : int
        Samples of a line that are kept.
    missing : int
        Frames that are not given at first.
    period : int
        Every so many frames one is given.
    copies : int
        How often the first frame of all is repeated before itself.
    """

    rows: int
    frames: int
    step: int
    size: int
    kept: int
    missing: int = 0
    period: int = 1
    copies: int = 0


def frames_of(graph: Graph, operator: Operator) -> Frames:
    """Return where the frames of one of `FRAMED` are.

    The interpreter keeps whole steps of a frame: without a prefill frames begin so much earlier.
    """
    options, shape = signal_options(operator), graph.input(operator).shape
    rows = graph.input(operator).elements // shape[-1]
    name = signal_name(operator)
    if name == DELAY:
        return Frames(rows, 1, shape[-1], shape[-1], kept=options["delay_length"])
    if name == STACKER:
        before, behind = options["stacker_left_context"], options["stacker_right_context"]
        return Frames(
            *(1, 1, shape[-1]),
            size=shape[-1] * (before + 1 + behind),
            kept=shape[-1] * (before + behind),
            missing=behind,
            period=options["stacker_step"],
            copies=before,
        )
    size, step = options["frame_size"], options["frame_step"]
    frames, missing = shape[-1] // step, -(-size // step) - 1
    if options["prefill"]:
        return Frames(rows, frames, step, size, kept=size - step)
    return Frames(rows, frames, step, size, kept=missing * step, missing=missing)


def with_signals(graph: Graph) -> Graph:
    """Return a model whose signal operators have names of their own, and their states as inputs.

    Parameters
    ----------
    graph : Graph
        A model that `kiwicha.compiler.check.check.check` accepts.
    """
    if not any(is_signal(operator) for operator in graph.operators):
        return graph
    tensors, operators, states = list(graph.tensors), list(graph.operators), list(graph.states)
    for operator in graph.operators:
        if not is_signal(operator):
            continue
        kept = operator.inputs
        found = _first(graph, operator)
        if found is not None:
            like, first = found
            state = dataclasses.replace(like, index=len(tensors), name=f"{like.name} before")
            tensors.append(state)
            states.append(State(state.name, state.index, state.index, operator.index, first))
            kept = (*kept, state.index)
        operators[operator.index] = dataclasses.replace(
            operator, name=signal_name(operator), inputs=kept
        )
    return dataclasses.replace(
        graph, tensors=tuple(tensors), operators=tuple(operators), states=tuple(states)
    )


def _first(graph: Graph, operator: Operator) -> tuple[Tensor, bytes] | None:
    """Return a tensor like an operator's state, and its first bytes; None if it has no state."""
    name = signal_name(operator)
    output = graph.output(operator)
    if name == SPECTRAL_SUBTRACTION:
        like = graph.tensors[operator.outputs[1]]
        return like, bytes(like.stored_bytes)
    if name in FRAMED:
        found = frames_of(graph, operator)
        # The counts of `kiwicha.kernels.signal_stream`.
        return _line(output, [0] * (found.rows * found.kept) + [found.missing, 1, 0])
    if name == OVERLAP_ADD:
        *_, frames, size = graph.input(operator).shape
        kept = size - signal_options(operator)["frame_step"]
        rows = graph.input(operator).elements // (frames * size)
        return _line(output, [0] * (rows * kept)) if kept else None
    return None


def _line(output: Tensor, numbers: list[int]) -> tuple[Tensor, bytes]:
    shape = (len(numbers),)
    like = dataclasses.replace(output, type=TensorType.INT16, shape=shape, shape_signature=())
    return like, np.array(numbers, "<i2").tobytes()
