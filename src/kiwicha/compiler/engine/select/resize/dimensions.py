"""Dimensions of an image that becomes larger: which outputs lie equally between pixels."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.lower.network import Values

__all__ = ["Dimension", "Run"]


@dataclass(frozen=True, eq=False)
class Run:
    """Outputs along one dimension that read the input in the same way.

    Parameters
    ----------
    outputs : range
        Which they are.
    pad : int
        By how much the first pixel that they read is less than their number in the phase.
    weights : ndarray of int64 [pixels]
        What the pixels count, which follow each other.
    """

    outputs: range
    pad: int
    weights: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dimension:
    """What the outputs along one dimension are between.

    Parameters
    ----------
    inputs : int
        Size of the input.
    pixels, weights : ndarray of int64 [outputs, 2]
        Of the input. A single pixel is the first one, and the other one counts nothing.
    one : int
        Sum of two weights, a power of two.
    """

    inputs: int
    pixels: NDArray[np.int64]
    weights: NDArray[np.int64]
    one: int

    @classmethod
    def of(cls, table: Values, inputs: int) -> "Dimension":
        """Return the dimension of a table of the kernel, which has no float32 weights."""
        pixels, weights = table[:, :2].astype(np.int64), table[:, 2:].astype(np.int64)
        one = int(weights[0].sum())
        is_second = weights[:, :1] == 0
        first = np.where(is_second, pixels[:, 1:], pixels[:, :1])
        is_single = is_second | (weights[:, 1:] == 0) | (pixels[:, :1] == pixels[:, 1:])
        return cls(
            inputs,
            np.where(is_single, first, pixels),
            np.where(is_single, np.array([one, 0]), weights),
            one,
        )

    @property
    def outputs(self) -> int:
        """Size of the output."""
        return len(self.pixels)

    @property
    def factor(self) -> int | None:
        """From pixels to outputs; None if it is not whole, or weights do not repeat."""
        sizes = [(self.outputs, self.inputs), (self.outputs - 1, self.inputs - 1)]
        for outputs, inputs in sizes:
            if inputs > 0 and outputs >= inputs and outputs % inputs == 0:
                factor = outputs // inputs
                # The first or the last one of each phase may be at an edge.
                if len(self.phases(factor)) <= 2 * factor:
                    return factor
        return None

    def phases(self, factor: int) -> list[Run]:
        """Return runs of outputs that are a factor apart, phase by phase."""
        runs = []
        for first in range(min(factor, self.outputs)):
            phase = range(first, self.outputs, factor)
            start = 0
            ways = [self._way(output, output // factor) for output in phase]
            for way, same in itertools.groupby(ways):
                count = len(list(same))
                pad, weights = way
                some = phase[start : start + count]
                runs.append(Run(some, pad, np.array(weights, np.int64)))
                start += count
        return runs

    def _way(self, output: int, number: int) -> tuple[int, tuple[int, ...]]:
        """Return how an output with a number in its phase reads the input: pad and weights."""
        first, second = self.weights[output].tolist()
        weights = (first, second) if second else (first,)
        return number - int(self.pixels[output, 0]), weights
