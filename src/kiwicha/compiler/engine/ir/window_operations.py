"""Operations on windows: convolutions, depthwise convolutions and maxima."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.engine.ir.operations import DividedOperation, JobOperation
from kiwicha.contract.engine import MAX_INPUT_ZERO_POINT, JobFlag, JobKind

__all__ = [
    "FEW_SLOTS",
    "Convolution",
    "DepthwiseConvolution",
    "LongConvolution",
    "MaxPooling",
    "WeightedOperation",
]

FEW_SLOTS = 4
"""Kernel columns, for each column of stride, of depthwise jobs with two groups at a time."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedOperation(JobOperation):
    """What a convolution and a depthwise convolution have.

    Parameters
    ----------
    input_zero_point : int
        Zero point of the input.
    weights : int16
        Less than 256 in size.
    weight_zero_point : int
        What must be added to the weights to make them int8.
    is_wide : bool
        Sums need more than one pass of the requantizer.
    reads_lowers : bool
        Input bytes have no sign: they are the lower ones of int16.
    lower_step : int
        From the upper byte of each result to its lower one; 0 if results are bytes.
    """

    input_zero_point: int
    weights: NDArray[np.int16]
    weight_zero_point: int = 0
    is_wide: bool = False
    reads_lowers: bool = False
    lower_step: int = 0

    @property
    @abstractmethod
    def channel_axis(self) -> int:
        """Axis of the weights along which the output channels are."""

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        chosen = {
            JobFlag.WIDE: self.is_wide,
            JobFlag.LOWER: self.reads_lowers,
            JobFlag.SHORT: self.lower_step != 0,
        }
        return JobFlag(sum(flag for flag, is_set in chosen.items() if is_set))

    @property
    def zero_points(self) -> tuple[int, int]:
        """What its jobs subtract from input bytes and from the bytes of weights."""
        return self.input_zero_point, self.weight_zero_point

    @property
    def flat_weights(self) -> NDArray[np.int16]:
        """The weights as [channels, taps]."""
        return np.moveaxis(self.weights, self.channel_axis, 0).reshape(self.output_channels, -1)


@dataclass(frozen=True, eq=False, kw_only=True)
class Convolution(WeightedOperation):
    """Sums over windows of all input channels; weights are [O, H, W, I].

    Parameters
    ----------
    is_packed : bool
        Each multiplier computes two products.
    """

    is_packed: bool = False

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.CONV

    @property
    def channel_axis(self) -> int:
        """Axis of the weights along which the output channels are."""
        return 0

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return super().flags | (JobFlag.PACKED if self.is_packed else JobFlag(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class LongConvolution(DividedOperation):
    """A convolution whose jobs add up parts of its kernel.

    Parameters
    ----------
    whole : Convolution
        All of it, as if one job could do it.
    """

    whole: Convolution


@dataclass(frozen=True, eq=False, kw_only=True)
class DepthwiseConvolution(WeightedOperation):
    """Sums over windows of each channel; weights are [H, W, C]. Average pools and means are these.

    Parameters
    ----------
    has_one_word : bool
        All weights are the same, and one weight word serves every kernel row and phase.
    """

    has_one_word: bool = False

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.DEPTHWISE

    @property
    def channel_axis(self) -> int:
        """Axis of the weights along which the output channels are."""
        return 2

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        taps = JobFlag.TAPS_8 if self.window.slots > FEW_SLOTS else JobFlag(0)
        return super().flags | taps | (JobFlag.ONES if self.has_one_word else JobFlag(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class MaxPooling(JobOperation):
    """The largest byte of windows of each channel.

    Parameters
    ----------
    gives_positions : bool
        Sums have its position as well.
    """

    gives_positions: bool = False

    @property
    def kind(self) -> JobKind:
        """What its jobs are."""
        return JobKind.MAX

    @property
    def flags(self) -> JobFlag:
        """Flags of its jobs."""
        return JobFlag.ONES

    @property
    def zero_points(self) -> tuple[int, int]:
        """What its jobs subtract from input bytes and from the bytes of weights."""
        return MAX_INPUT_ZERO_POINT, 0
