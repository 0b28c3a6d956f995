"""Programs of one step, and random parameters for them."""

import dataclasses
import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract import configs
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import DType, Kernel
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor, Layer, Step
from kiwicha.sim.reference import executor as reference

__all__ = ["INT8", "OneStep", "activation", "int8s", "scales", "with_output_size"]

INT8 = (-128, 127)


class OneStep:
    """Builds a Program of one step: constants, inputs, an output."""

    def __init__(self) -> None:
        self.constants = b""
        self.arena_bytes = 0
        self.inputs: list[tuple[IoTensor, NDArray[np.int8]]] = []

    def constant(self, values: Any, dtype: Any = np.int32) -> Ref:
        """Add a constant."""
        raw = np.ascontiguousarray(values, dtype).tobytes()
        ref = Ref(len(self.constants), len(raw), is_constant=True)
        self.constants += raw + bytes(-len(raw) % 16)
        return ref

    def arena(self, size: int) -> Ref:
        """Reserve bytes of the arena."""
        ref = Ref(self.arena_bytes, size)
        self.arena_bytes += size + -size % 16
        return ref

    def input(self, values: NDArray[np.int8]) -> Ref:
        """Add an input of the model with its value."""
        ref = self.arena(values.size)
        tensor = IoTensor(f"in{len(self.inputs)}", ref, DType.INT8, values.shape, 0.0, 0)
        self.inputs.append((tensor, values))
        return ref

    def run(self, kernel: Kernel, params: Any, shape: tuple[int, ...]) -> NDArray[np.int8]:
        """Run one kernel and return what it wrote."""
        program = Program(
            config_hash=configs.CONFIGS["simd"].hash,
            arena_bytes=self.arena_bytes,
            inputs=tuple(tensor for tensor, _ in self.inputs),
            outputs=(IoTensor("out", params.output, DType.INT8, shape, 0.0, 0),),
            layers=(Layer(0, kernel.name, shape, 0, kernel.where),),
            steps=(Step(kernel, 0, params),),
            constants=self.constants,
        )
        (output,) = reference.run(program, [values for _, values in self.inputs])
        return output


def int8s(rng: random.Random, *shape: int) -> NDArray[np.int8]:
    """Give random bytes, a fifth of them extremes."""
    values = [
        rng.choice([-128, 127]) if rng.random() < 0.2 else rng.randint(-128, 127)
        for _ in range(math.prod(shape))
    ]
    return np.array(values, np.int8).reshape(shape)


def scales(rng: random.Random, count: int, largest_sum: int) -> tuple[list[int], list[int]]:
    """Give multipliers and shifts that spread sums over and beyond int8."""
    multipliers = [rng.randint(2**30, 2**31 - 1) for _ in range(count)]
    shifts = [7 - largest_sum.bit_length() + rng.randint(-1, 2) for _ in range(count)]
    return multipliers, shifts


def activation(rng: random.Random) -> tuple[int, int]:
    return rng.choice([INT8, (-10, 90), (-128, 0), (5, 5)])


def with_output_size(p: Any, rng: random.Random) -> Any:
    """Add an output size: as many pixels as start inside the input, or one row or column less."""
    if (p.kernel_height, p.kernel_width, p.stride_height, p.stride_width) == (1, 1, 1, 1):
        return dataclasses.replace(p, output_height=p.input_height, output_width=p.input_width)
    sizes = []
    for size, pad, stride in (
        (p.input_height, p.pad_top, p.stride_height),
        (p.input_width, p.pad_left, p.stride_width),
    ):
        most = (size + pad - 1) // stride + 1
        sizes.append(max(most - rng.randint(0, 1), 1))
    return dataclasses.replace(p, output_height=sizes[0], output_width=sizes[1])
