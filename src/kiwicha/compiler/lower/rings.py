"""Ring buffers: states to which new values are joined, and from which old ones are cut off."""

from collections.abc import Mapping
from dataclasses import dataclass

from kiwicha.compiler.lower.byte_copies import byte_copy
from kiwicha.compiler.lower.moves import ranged
from kiwicha.compiler.lower.views import View
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.compiler.tflite.slices import slice_ranges, strided_ranges
from kiwicha.compiler.tflite.variables import SLICES

__all__ = ["Ring", "rings"]


@dataclass(frozen=True)
class Ring:
    """What becomes a state at the end of an inference: bytes of another tensor that lie together.

    Parameters
    ----------
    whole : int
        That tensor.
    first : int
        The first byte there.
    """

    whole: int
    first: int


def rings(graph: Graph) -> Mapping[int, Ring]:
    """Return the ring buffers among the states of a model, by the tensor of before."""
    found = {}
    for state in graph.states:
        operator = graph.operators[state.writer]
        ring = _ring(graph, operator) if operator.name in SLICES else None
        if ring is not None:
            found[state.before] = ring
    return found


def _ring(graph: Graph, operator: Operator) -> Ring | None:
    source, output = graph.input(operator), graph.output(operator)
    ranges = (slice_ranges if operator.name == "SLICE" else strided_ranges)(graph, operator)
    assert ranges is not None
    bits = output.type.bits
    assert bits is not None
    taken = ranged(View.of(source.shape), ranges)
    copy = byte_copy(taken, View.of(output.shape), bits // 8)
    return Ring(source.index, copy.source[0]) if copy.is_one else None
