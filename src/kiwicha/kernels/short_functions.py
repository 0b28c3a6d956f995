"""LOGISTIC and TANH of int16, and LEAKY_RELU with its kin.

Notes
-----
Ref: tensorflow/lite/kernels/internal/reference/integer_ops/{logistic,tanh}.h,
reference/leaky_relu.h and tensorflow/lite/micro/kernels/activations_common.cc in tflite-micro.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.layout import Ref, Struct, i32, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Memory, Work
from kiwicha.numerics.requantization import multiply_by_quantized_multiplier
from kiwicha.numerics.short_activations import scaled_argument, short_logistic, short_tanh

__all__ = ["KERNELS", "ShortFunction", "ShortLeakyRelu"]


@dataclass(frozen=True)
class ShortFunction(Struct):
    """LOGISTIC and TANH: lines between points, of ``x * multiplier / 2**shift`` in 1/12,288."""

    input: Ref = ref("int16 [count]")
    output: Ref = ref("int16 [count], in 1/32,768")
    points: Ref = ref("int16 [257], constant: numerics.short_activations.points")
    count: int = u32("elements")
    multiplier: int = u32("0 to 32767")
    shift: int = u32("to the right, 0 to 31")


@dataclass(frozen=True)
class ShortLeakyRelu(Struct):
    """LEAKY_RELU, RELU and RELU6: one scale for numbers of 0 or more, another one for others."""

    input: Ref = ref("int16 [count]")
    output: Ref = ref("int16 [count]")
    count: int = u32("elements")
    multiplier: int = i32("of numbers of 0 or more")
    shift: int = i32("of numbers of 0 or more")
    leak_multiplier: int = i32("of negative numbers")
    leak_shift: int = i32("of negative numbers")
    leak_sign: int = i32("of what that gives: 1 or -1")
    activation_max: int = i32("largest output")


def _logistic(memory: Memory, p: ShortFunction) -> NDArray[np.int16]:
    return short_logistic(_argument(memory, p)).astype(np.int16)


def _tanh(memory: Memory, p: ShortFunction) -> NDArray[np.int16]:
    return short_tanh(_argument(memory, p)).astype(np.int16)


def _argument(memory: Memory, p: ShortFunction) -> NDArray[np.int64]:
    return scaled_argument(memory.load(p.input, np.int16, (p.count,)), p.multiplier, p.shift)


def _leaky_relu(memory: Memory, p: ShortLeakyRelu) -> NDArray[np.int16]:
    x = memory.load(p.input, np.int16, (p.count,)).astype(np.int64)
    kept = multiply_by_quantized_multiplier(x, p.multiplier, p.shift)
    leaked = multiply_by_quantized_multiplier(x, p.leak_multiplier, p.leak_shift)
    results = np.where(x >= 0, kept, p.leak_sign * leaked)
    return results.clip(np.iinfo(np.int16).min, p.activation_max).astype(np.int16)


def _work(p: ShortFunction | ShortLeakyRelu) -> Work:
    return Work(p.count)


KERNELS = (
    Declaration(
        kernel=Kernel.SHORT_LOGISTIC,
        params=ShortFunction,
        check="short_function",
        reference=_logistic,
        is_in_place=True,
        is_on_demand=True,
        tables=("points",),
        cost=Cost(step=330.0, output=45.0),
        work=_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_TANH,
        params=ShortFunction,
        check="short_function",
        reference=_tanh,
        is_in_place=True,
        is_on_demand=True,
        tables=("points",),
        cost=Cost(step=330.0, output=45.7),
        work=_work,
    ),
    Declaration(
        kernel=Kernel.SHORT_LEAKY_RELU,
        params=ShortLeakyRelu,
        reference=_leaky_relu,
        is_in_place=True,
        is_on_demand=True,
        cost=Cost(step=144.0, output=56.4),
        work=_work,
    ),
)
