"""Fully connected layers of any size."""

import dataclasses

import numpy as np

from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel, Where
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.simd_matrix import matrix_pixels
from tests.support.programs.steps import ConvCase, ProgramBuilder, int8s

__all__ = ["add_shape"]


def add_shape(
    builder: ProgramBuilder,
    kernel: Kernel,
    rng: np.random.Generator,
    batches: int,
    inputs: int,
    outputs: int,
) -> None:
    """Add a layer; SIMD_FULLY_CONNECTED takes inputs in fours."""
    ones = dict.fromkeys(
        (
            *("input_height", "input_width", "output_height", "output_width"),
            *("kernel_height", "kernel_width", "stride_height", "stride_width"),
            *("dilation_height", "dilation_width", "depth_multiplier", "tile_pixels"),
        ),
        1,
    )
    params = Conv(
        *[Ref()] * 7,
        batches=batches,
        input_channels=inputs,
        output_channels=outputs,
        **ones,
        **{"pad_top": 0, "pad_left": 0, "input_offset": 5, "weight_offset": 0, "output_offset": -7},
        **{"activation_min": -128, "activation_max": 127},
    )
    if kernel.where is Where.SIMD:
        params = dataclasses.replace(params, tile_pixels=matrix_pixels(params))
    image = int8s(rng, (batches, 1, 1, inputs))
    case = ConvCase(
        params=params,
        is_depthwise=False,
        input=image,
        weights=int8s(rng, (outputs, 1, 1, inputs)),
        bias=rng.integers(-999, 999, outputs),
        multiplier=np.full(outputs, 2**30),
        shift=np.full(outputs, -6),
    )
    case.add_to(builder, kernel, builder.input(image))
