"""AVERAGE_POOL_2D and MAX_POOL_2D.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h in tflite-micro.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.errors import ProgramError
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.kernels.windows import elements_seen, padded, windows

__all__ = ["KERNELS", "Pool", "average_pool", "max_pool", "pool_work"]

Short = np.signedinteger[Any]
"""Of 8 or 16 bits."""


@dataclass(frozen=True)
class Pool(Struct):
    """AVERAGE_POOL_2D and MAX_POOL_2D: int8, in SHORT kernels int16, NHWC, equal scales."""

    input: Ref = ref("int8 or int16 [batches, input_height, input_width, channels]")
    output: Ref = ref("the same type [batches, output_height, output_width, channels]")
    batches: int = u32("N")
    input_height: int = u32("rows")
    input_width: int = u32("columns")
    channels: int = u32("channels")
    output_height: int = u32("rows")
    output_width: int = u32("columns")
    kernel_height: int = u32("rows of the window")
    kernel_width: int = u32("columns of the window")
    stride_height: int = u32("1 or more")
    stride_width: int = u32("1 or more")
    pad_top: int = u32("rows above the input")
    pad_left: int = u32("columns left of the input")
    offset: int = i32(
        "AVERAGE_POOL: added before and taken away after a division that rounds halves away from "
        "zero: 0, or 128 to round halves up; MAX_POOL and SHORT kernels: 0"
    )
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


def _image(memory: Memory, p: Pool, dtype: type[Short]) -> NDArray[Short]:
    shape = (p.batches, p.input_height, p.input_width, p.channels)
    return memory.load(p.input, dtype, shape)


def average_pool(memory: Memory, p: Pool, dtype: type[Short] = np.int8) -> NDArray[Short]:
    """Return the output of an AVERAGE_POOL_2D."""
    x = _image(memory, p, dtype)
    inside = np.ones((1, p.input_height, p.input_width, 1), np.int32)
    counts = windows(padded(inside, p, 0), p).sum(axis=(3, 4), dtype=np.int64)
    if not counts.all():
        raise ProgramError(f"every window must hold an input element ({p})")
    shifted = padded(x.astype(np.int32) + p.offset, p, 0)
    sums = windows(shifted, p).sum(axis=(3, 4), dtype=np.int64)
    # Half away from zero: C's division truncates.
    means = np.sign(sums) * ((np.abs(sums) + counts // 2) // counts)
    return _clamped(means - p.offset, p, dtype)


def max_pool(memory: Memory, p: Pool, dtype: type[Short] = np.int8) -> NDArray[Short]:
    """Return the output of a MAX_POOL_2D."""
    taps = windows(padded(_image(memory, p, dtype), p, np.iinfo(dtype).min), p)
    return _clamped(taps.max(axis=(3, 4)), p, dtype)


def _clamped(values: NDArray[Any], p: Pool, dtype: type[Short]) -> NDArray[Short]:
    clamped: NDArray[Short] = values.clip(p.activation_min, p.activation_max).astype(dtype)
    return clamped


def pool_work(p: Pool) -> Work:
    """Return what a kernel of this kind does."""
    channels = p.batches * p.channels
    rows = elements_seen(
        p.output_height,
        p.input_height,
        kernel=p.kernel_height,
        stride=p.stride_height,
        dilation=1,
        pad=p.pad_top,
    )
    columns = elements_seen(
        p.output_width,
        p.input_width,
        kernel=p.kernel_width,
        stride=p.stride_width,
        dilation=1,
        pad=p.pad_left,
    )
    return Work(channels * p.output_height * p.output_width, channels * rows * columns)


KERNELS = (
    Declaration(
        kernel=Kernel.AVERAGE_POOL,
        params=Pool,
        check="pool",
        reference=average_pool,
        cost=Cost(step=482.0, output=165.0, unit=24.8, extra=0.0),
        work=pool_work,
    ),
    Declaration(
        kernel=Kernel.MAX_POOL,
        params=Pool,
        check="pool",
        reference=max_pool,
        cost=Cost(step=554.0, output=98.5, unit=24.5, extra=0.0),
        work=pool_work,
    ),
)
