"""Convolutions with the batching around them: what becomes a dilated one, and what does not."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from kiwicha.compiler import compile_model
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.sim.reference import executor as reference
from kiwicha.tflite_writer.builder import PADDINGS
from tests.support.models.tflite_builder import ModelBuilder
from tests.support.oracle import oracle

CHANNELS, OUTPUTS = 4, 5


@dataclass(frozen=True)
class Batched:
    """A convolution between SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, and its image.

    Parameters
    ----------
    size : tuple of int
        Rows and columns of the image.
    blocks, kernel : tuple of int
        Rows and columns.
    pads, crops : tuple of pairs
        Rows and columns before and after.
    """

    size: tuple[int, int] = (9, 8)
    blocks: tuple[int, int] = (2, 3)
    kernel: tuple[int, int] = (3, 3)
    pads: tuple[tuple[int, int], tuple[int, int]] = ((2, 3), (3, 4))
    crops: tuple[tuple[int, int], tuple[int, int]] = ((0, 1), (0, 1))
    padding: str = "VALID"
    is_depthwise: bool = False
    batches: int = 1
    seed: int = 0
    stride: int = 1

    @property
    def image(self) -> NDArray[np.int8]:
        """Random bytes."""
        generator = np.random.default_rng(self.seed)
        return generator.integers(-128, 128, (self.batches, *self.size, CHANNELS), np.int8)

    def model(self, *, shows_inside: bool = False, is_dilated: bool = False) -> bytes:
        """Return the model; with what is inside as outputs, too; or as one dilated convolution."""
        builder = ModelBuilder()
        x = builder.tensor((self.batches, *self.size, CHANNELS), scale=0.5, zero_point=-7)
        operands, outputs = self._weights(builder)
        options: dict[str, Any] = {"padding": PADDINGS[self.padding]}
        options |= {"strideH": self.stride, "strideW": self.stride}
        if self.is_depthwise:
            options["depthMultiplier"] = 1
        code = "DEPTHWISE_CONV_2D" if self.is_depthwise else "CONV_2D"
        if is_dilated:
            shape = (self.batches, *self.size, outputs)
            y = builder.tensor(shape, scale=30.0, zero_point=3)
            options |= {"dilationHFactor": self.blocks[0], "dilationWFactor": self.blocks[1]}
            builder.operator(code, [x, *operands], [y], **(options | {"padding": PADDINGS["SAME"]}))
            return builder.build([x], [y])
        phases = self.batches * self.blocks[0] * self.blocks[1]
        inner = [
            (size + sum(pad)) // block
            for size, pad, block in zip(self.size, self.pads, self.blocks, strict=True)
        ]
        outer = [
            (size - (taps if self.padding == "VALID" else 1)) // self.stride + 1
            for size, taps in zip(inner, self.kernel, strict=True)
        ]
        final = [
            size * block - sum(crop)
            for size, block, crop in zip(outer, self.blocks, self.crops, strict=True)
        ]
        a = builder.tensor((phases, *inner, CHANNELS), scale=0.5, zero_point=-7)
        b = builder.tensor((phases, *outer, outputs), scale=30.0, zero_point=3)
        y = builder.tensor((self.batches, *final, outputs), scale=30.0, zero_point=3)
        blocks, pads, crops = (
            builder.tensor(np.shape(values), np.int32, data=np.array(values))
            for values in (self.blocks, self.pads, self.crops)
        )
        builder.operator("SPACE_TO_BATCH_ND", [x, blocks, pads], [a])
        builder.operator(code, [a, *operands], [b], **options)
        builder.operator("BATCH_TO_SPACE_ND", [b, blocks, crops], [y])
        return builder.build([x], [y, a, b] if shows_inside else [y])

    def _weights(self, builder: ModelBuilder) -> tuple[list[int], int]:
        outputs = CHANNELS if self.is_depthwise else OUTPUTS
        shape = (1, *self.kernel, CHANNELS) if self.is_depthwise else (OUTPUTS, *self.kernel, 4)
        generator = np.random.default_rng(self.seed + 1)
        values = generator.integers(-127, 128, shape, np.int8)
        weights = builder.tensor(shape, scale=0.1, data=values)
        biases = generator.integers(-999, 999, outputs)
        bias = builder.tensor((outputs,), np.int32, scale=0.05, data=biases)
        return [weights, bias], outputs


def run(case: Batched, model: bytes, config: str = "simd") -> NDArray[np.int8]:
    output: NDArray[np.int8] = reference.run(compile_model(model, config), [case.image])[0]
    return output


def same(size: tuple[int, int], blocks: tuple[int, int], kernel: tuple[int, int]) -> Batched:
    """Give what converters write for a dilated convolution with padding SAME."""
    pads, crops = [], []
    for extent, block, taps in zip(size, blocks, kernel, strict=True):
        total = (taps - 1) * block
        extra = -(extent + total) % block
        pads.append((total // 2, total - total // 2 + extra))
        crops.append((0, extra))
    return Batched(size, blocks, kernel, (pads[0], pads[1]), (crops[0], crops[1]))


@pytest.mark.parametrize("config", ["baseline", "simd", "64"])
def test_becomes_the_dilated_convolution(config: str) -> None:
    cases = [
        same((9, 8), (2, 2), (3, 3)),
        same((7, 10), (3, 2), (3, 5)),
        same((6, 6), (2, 4), (2, 3)),
    ]
    dilated = [case.model(is_dilated=True) for case in cases]
    asked = [oracle.Case(model, (case.image,)) for case, model in zip(cases, dilated, strict=True)]
    for case, answer in zip(cases, oracle.ask(asked), strict=True):
        assert answer.outputs is not None, answer.error
        got = run(case, case.model(), config)
        np.testing.assert_array_equal(got, answer.outputs[0])
        assert len(np.unique(got)) > 10


@pytest.mark.parametrize("seed", range(30))
def test_gives_what_the_three_operators_give(seed: int) -> None:
    rng = random.Random(seed)
    blocks = (rng.randint(1, 3), rng.randint(1, 3))
    kernel = (rng.randint(1, 3), rng.randint(1, 3))
    size, pads, crops = [], [], []
    for block, taps in zip(blocks, kernel, strict=True):
        whole = rng.randint(taps, 5) * block
        before = rng.randint(0, min(3, whole - 1))
        after = rng.randint(0, min(3, whole - 1 - before))
        size.append(whole - before - after)
        pads.append((before, after))
        crops.append((rng.randint(0, 1), 0))
    case = Batched(
        (size[0], size[1]),
        blocks,
        kernel,
        (pads[0], pads[1]),
        (crops[0], crops[1]) if blocks[0] > 1 < blocks[1] else ((0, 0), (0, 0)),
        rng.choice(["SAME", "VALID"]),
        is_depthwise=rng.random() < 0.5,
        batches=rng.randint(1, 2),
        seed=seed,
    )
    np.testing.assert_array_equal(run(case, case.model()), run(case, case.model(shows_inside=True)))


def kernels(case: Batched, **changes: bool) -> list[Kernel]:
    program = compile_model(case.model(**changes), "baseline")
    return [step.kernel for step in program.steps]


def test_is_one_step() -> None:
    (step,) = compile_model(Batched().model(), "baseline").steps
    assert step.kernel is Kernel.CONV
    params = step.params
    assert isinstance(params, Conv)
    assert (params.dilation_height, params.dilation_width) == (2, 3)
    assert (params.pad_top, params.pad_left) == (2, 3)
    assert (params.batches, params.input_height, params.output_height) == (1, 9, 9)


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        (Batched(), {"shows_inside": True}),
        # Rows that are cropped before the first one would be padding below 0.
        (Batched(pads=((0, 3), (3, 4)), crops=((1, 1), (0, 1))), {}),
        # Padding as large as the kernel.
        (Batched(kernel=(1, 3), pads=((2, 3), (3, 4))), {}),
        (Batched(stride=2), {}),
    ],
    ids=["outputs inside", "crop before", "wide padding", "stride"],
)
def test_others_stay(case: Batched, changes: dict[str, bool]) -> None:
    found = kernels(case, **changes)
    assert Kernel.CONV in found
    assert Kernel.COPY in found
