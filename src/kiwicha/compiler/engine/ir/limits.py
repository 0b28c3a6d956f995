"""Limits of the engine: each is one function, which is the rule, the check and its message.

The docstring is the rule's text, with numbers from the contract. The function returns None, or what
is broken: a predicate such as "has 300 kernel rows; the engine takes up to 255". Reasons why layers
are on the CPU, and the documents, come from nowhere else. Limits of what a layer must be like to
become an operation lie beside the functions that make one, in `engine.select`; here are those of
operations, whose numbers must fit the fields of a job.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kiwicha.compiler.engine.ir.operations import JobOperation
from kiwicha.compiler.engine.ir.refusals import BrokenLimitError
from kiwicha.compiler.engine.ir.window import MAX_STRIDE, Window, padded, segment_shape
from kiwicha.compiler.engine.ir.window_operations import (
    Convolution,
    DepthwiseConvolution,
    MaxPooling,
)
from kiwicha.compiler.optimize.ranges import largest_sum
from kiwicha.contract.engine import (
    GROUP_WORDS,
    INPUT_LANES,
    MAX_DEPTHWISE_COLUMNS,
    MAX_KERNEL_ROWS,
    MAX_LEFT_BYTES,
    MAX_TOP_BYTES,
    MAX_U8,
    MAX_U16,
    OUTPUT_BYTES,
    SUM_BITS,
)

__all__ = [
    "DEPTHWISE_LIMITS",
    "OPERATION_LIMITS",
    "ROW_LIMITS",
    "SPREAD_LIMITS",
    "WINDOW_LIMITS",
    "Geometry",
    "Limit",
    "broken_row_limit",
    "exceeded",
    "limit",
    "require",
    "verify",
    "without_rows",
]

T = TypeVar("T")


@dataclass(frozen=True)
class Limit(Generic[T]):
    """A limit of the engine.

    Parameters
    ----------
    rule : str
        Its text.
    operators : tuple of str
        Operators of models that it is about.
    check : callable
        Returns what is broken, None if nothing is.
    """

    rule: str
    operators: tuple[str, ...]
    check: Callable[[T], str | None]


def limit(*operators: str, **numbers: int) -> Callable[[Callable[[T], str | None]], Limit[T]]:
    """Make a limit of a function, whose docstring has ``numbers`` in braces.

    Parameters
    ----------
    operators : str
        Operators of models that it is about.
    numbers : int
        From the contract.
    """

    def made(check: Callable[[T], str | None]) -> Limit[T]:
        text = " ".join((inspect.getdoc(check) or "").split())
        rule = text.format(**{name: f"{number:,}" for name, number in numbers.items()})
        return Limit(rule, operators, check)

    return made


def exceeded(value: int, most: int, what: str) -> str | None:
    """Return that something has more than the engine takes, None if it has not."""
    if value <= most:
        return None
    return f"has {value:,} {what}; the engine takes up to {most:,}"


def require(limits: Iterable[Limit[T]], subject: T) -> None:
    """Refuse what breaks a limit.

    Raises
    ------
    BrokenLimitError
        With the first limit that is broken.
    """
    for item in limits:
        why = item.check(subject)
        if why is not None:
            raise BrokenLimitError(why)


class Geometry(Protocol):
    """What limits of windows are about: operations, and what shall become one."""

    @property
    def window(self) -> Window:
        """Geometry."""

    @property
    def output_channels(self) -> int:
        """Channels of the output."""


_CONVOLUTIONS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV")
_IMAGES = (*_CONVOLUTIONS, "AVERAGE_POOL_2D", "MAX_POOL_2D")
_WHOLE = MAX_U16 // OUTPUT_BYTES * OUTPUT_BYTES


@limit("DEPTHWISE_CONV_2D", "MAX_POOL_2D", most=MAX_KERNEL_ROWS)
def kernel_rows(item: Geometry) -> str | None:
    """A window of separate channels has up to {most} rows."""
    return exceeded(item.window.kernel_rows, MAX_KERNEL_ROWS, "kernel rows")


@limit(*_IMAGES, most=MAX_STRIDE)
def strides(item: Geometry) -> str | None:
    """Strides, and the dilation of rows, are up to {most}."""
    window = item.window
    largest = max(window.stride_rows, window.stride_columns, window.dilation_rows)
    return exceeded(largest, MAX_STRIDE, "rows or columns from one to the next")


@limit(*_IMAGES, *("MEAN", "SUM", "FULLY_CONNECTED"), most=MAX_U16, whole=OUTPUT_BYTES)
def input_row_bytes(item: Geometry) -> str | None:
    """A row of the input has up to {most} bytes, channels rounded up to groups of {whole}.

    Images of one row, and those of windows of one pixel, are taken as columns. CONV_2D,
    DEPTHWISE_CONV_2D, FULLY_CONNECTED and pools with longer rows are done in parts of these.
    """
    size = item.window.input_columns * padded(item.window.channels)
    return exceeded(size, MAX_U16, "bytes of an input row")


@limit(*_IMAGES, most=MAX_U16, whole=OUTPUT_BYTES)
def column_step_bytes(item: Geometry) -> str | None:
    """A column's stride, or dilation, is up to {most} bytes, channels rounded up to {whole}.

    A CONV_2D or FULLY_CONNECTED that has more is done tap by tap.
    """
    columns = max(item.window.stride_columns, item.window.dilation_columns)
    size = columns * padded(item.window.channels)
    return exceeded(size, MAX_U16, "bytes from one column to the next")


@limit(*_IMAGES, *("MEAN", "SUM", "FULLY_CONNECTED"), most=_WHOLE)
def output_channels(item: Geometry) -> str | None:
    """There are up to {most} output channels."""
    return exceeded(item.output_channels, _WHOLE, "output channels")


@limit(*_IMAGES, most=MAX_LEFT_BYTES)
def left_padding(item: Geometry) -> str | None:
    """Padding left of a row has up to {most} bytes, but that of a CONV_2D in parts."""
    size = item.window.pad_left * padded(item.window.channels)
    return exceeded(size, MAX_LEFT_BYTES, "bytes of padding left of a row")


@limit(*_IMAGES, most=MAX_TOP_BYTES)
def top_padding(item: Geometry) -> str | None:
    """Padding above an image has up to {most} bytes, but that of what is done in parts."""
    window = item.window
    size = window.pad_top * window.input_columns * padded(window.channels)
    return exceeded(size, MAX_TOP_BYTES, "bytes of padding above an image")


@limit("DEPTHWISE_CONV_2D", most=GROUP_WORDS * INPUT_LANES, whole=INPUT_LANES)
def weights_per_output(item: Geometry) -> str | None:
    """A job for all channels of a DEPTHWISE_CONV_2D adds up to {most} products.

    Only a layer that is no depthwise job needs one. All channels count, rounded up to groups of
    {whole}.
    """
    segments, words = segment_shape(item.window, padded(item.window.channels))
    count = item.window.kernel_rows * segments * words * INPUT_LANES
    return exceeded(count, GROUP_WORDS * INPUT_LANES, "weights per output")


@limit("DEPTHWISE_CONV_2D", most=MAX_DEPTHWISE_COLUMNS, whole=OUTPUT_BYTES)
def depthwise_columns(item: Geometry) -> str | None:
    """A depthwise job has up to {most} kernel columns for each column of stride.

    With strides, or up to {whole} channels, columns that dilation skips count, too.
    """
    what = "kernel columns for each column of stride"
    return exceeded(item.window.slots, MAX_DEPTHWISE_COLUMNS, what)


@limit("DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D")
def depthwise_padding(item: Geometry) -> str | None:
    """The first window of each row has a column inside the image or right of it."""
    window = item.window
    steps = window.stride_columns * window.dilation_columns
    most = (window.slots - 1) * steps + window.stride_columns - 1
    return exceeded(window.pad_left, most, "columns of padding left of a row")


@limit("DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MEAN", "SUM", most=GROUP_WORDS)
def depthwise_words(item: Geometry) -> str | None:
    """A depthwise job has up to {most} kernel rows times columns of stride."""
    count = item.window.stride_columns * item.window.kernel_rows
    return exceeded(count, GROUP_WORDS, "kernel rows times columns of stride")


@limit("DEPTHWISE_CONV_2D", "AVERAGE_POOL_2D", "MEAN", "SUM", most=SUM_BITS)
def depthwise_sums(item: DepthwiseConvolution) -> str | None:
    """The sums of a depthwise job have up to {most} bits."""
    bits = largest_sum(item.flat_weights, item.input_zero_point).bit_length() + 1
    return exceeded(bits, SUM_BITS, "bits of its largest sum")


@limit("MAX_POOL_2D", most=MAX_U8)
def max_pool_columns(item: Geometry) -> str | None:
    """A window has up to {most} columns."""
    return exceeded(item.window.kernel_columns, MAX_U8, "window columns")


@limit("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "PRELU", most=_WHOLE)
def element_channels(item: Geometry) -> str | None:
    """Operands by channel have up to {most} channels."""
    return exceeded(item.output_channels, _WHOLE, "channels")


ROW_LIMITS: tuple[Limit[Geometry], ...] = (
    input_row_bytes,
    column_step_bytes,
    left_padding,
    top_padding,
)
"""Of all operations with windows, but those that are done in parts of rows only."""
WINDOW_LIMITS: tuple[Limit[Geometry], ...] = (
    strides,
    input_row_bytes,
    column_step_bytes,
    output_channels,
    left_padding,
    top_padding,
)
"""Of all operations with windows."""
SPREAD_LIMITS: tuple[Limit[Geometry], ...] = (*WINDOW_LIMITS, weights_per_output)
"""Of a convolution that stands for separate channels."""
DEPTHWISE_LIMITS: tuple[Limit[Geometry], ...] = (
    *WINDOW_LIMITS,
    kernel_rows,
    depthwise_columns,
    depthwise_padding,
    depthwise_words,
)
MAX_POOLING_LIMITS: tuple[Limit[Geometry], ...] = (*WINDOW_LIMITS, kernel_rows, max_pool_columns)
OPERATION_LIMITS: tuple[Limit[Geometry] | Limit[DepthwiseConvolution], ...] = (
    *SPREAD_LIMITS,
    *(item for item in DEPTHWISE_LIMITS if item not in WINDOW_LIMITS),
    depthwise_sums,
    max_pool_columns,
    element_channels,
)
"""All of this file, for documents."""


def verify(operation: JobOperation) -> None:
    """Refuse an operation that breaks a limit; see `require`."""
    if isinstance(operation, Convolution):
        require(without_rows(WINDOW_LIMITS, operation), operation)
    elif isinstance(operation, DepthwiseConvolution):
        require(without_rows(DEPTHWISE_LIMITS, operation), operation)
        require([depthwise_sums], operation)
    elif isinstance(operation, MaxPooling):
        require(without_rows(MAX_POOLING_LIMITS, operation), operation)
    elif not operation.is_flat:
        require([element_channels], operation)


def without_rows(
    limits: Iterable[Limit[Geometry]], operation: "JobOperation | None" = None
) -> list[Limit[Geometry]]:
    """Return limits without those of whole rows, or all if an operation has to keep these."""
    keeps = operation is not None and not operation.has_long_rows
    return [item for item in limits if keeps or item not in ROW_LIMITS]


def broken_row_limit(item: Geometry) -> str | None:
    """Return which of the limits of whole rows is broken, None if none is."""
    return next((why for rule in ROW_LIMITS if (why := rule.check(item)) is not None), None)
