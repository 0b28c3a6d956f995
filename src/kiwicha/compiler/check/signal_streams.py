"""What must hold for signal operators that keep samples."""

from collections.abc import Callable, Iterator, Mapping

from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.signal_operators import (
    DELAY,
    FRAMER,
    OVERLAP_ADD,
    STACKER,
    signal_name,
    signal_options,
)
from kiwicha.compiler.tflite.signal_states import frames_of

__all__ = ["STREAM_PROBLEMS", "stream_shape"]

_MOST_MISSING = 2**15 - 1
"""Frames before one that is given."""


def stream_shape(graph: Graph, operator: Operator) -> tuple[int, ...]:
    """Return the shape that the first output of one without problems must have."""
    shape, name = graph.input(operator).shape, signal_name(operator)
    if name == OVERLAP_ADD:
        return (*shape[:-2], shape[-2] * signal_options(operator)["frame_step"])
    if name == DELAY:
        return shape
    found = frames_of(graph, operator)
    return (found.size,) if name == STACKER else (*shape[:-1], found.frames, found.size)


def _framer_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    size, step = options["frame_size"], options["frame_step"]
    samples = graph.input(operator).shape[-1]
    if samples % step:
        yield f"input must have whole steps of {step} samples, not {samples}"
    if options["prefill"] and size < step:
        yield f"frame_size must be frame_step or more with a prefill, {step}, not {size}"
    if (size - 1) // step > _MOST_MISSING:
        yield f"frame_size must be at most {_MOST_MISSING + 1} steps of {step}, not {size}"


def _stacker_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    (count,), wanted = graph.input(operator).shape, options["num_channels"]
    if count != wanted:
        yield f"input must have num_channels elements, {wanted}, not {count}"
    stacked = options["stacker_left_context"] + 1 + options["stacker_right_context"]
    if stacked > _MOST_MISSING:
        yield f"frames of the output must be at most {_MOST_MISSING}, not {stacked}"
    if options["stacker_step"] > stacked:
        step = options["stacker_step"]
        yield f"stacker_step must be at most the frames of the output, {stacked}, not {step}"


def _overlap_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    shape, step = graph.input(operator).shape, options["frame_step"]
    if len(shape) < 2:
        yield f"input must have 2 dimensions or more, not {len(shape)}"
    elif step > shape[-1]:
        yield f"frame_step must be at most the samples of a frame, {shape[-1]}, not {step}"


def _no_problems(graph: Graph, operator: Operator, options: dict[str, int]) -> Iterator[str]:
    yield from ()


STREAM_PROBLEMS: Mapping[str, Callable[[Graph, Operator, dict[str, int]], Iterator[str]]] = {
    FRAMER: _framer_problems,
    STACKER: _stacker_problems,
    DELAY: _no_problems,
    OVERLAP_ADD: _overlap_problems,
}
"""By the operator's name; yield what is wrong."""
