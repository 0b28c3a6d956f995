"""Limits of shapes: what is just taken, and what is just refused."""

from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import read, violations
from tests.support.models.one_operator import (
    CONV,
    SOFTMAX_OUT,
    Model,
    connected,
    conv,
    depthwise,
    mean,
    unary,
)

VALID = 1
LONG = 32767
MOST = 4194304
"""Elements that are reduced at a time."""


def position(axis: int, x: tuple[int, ...], y: tuple[int, ...]) -> bytes:
    model = Model()
    operands = [model.activation("x", x), model.parameters([axis])]
    output = model.activation("y", y, dtype=np.int32, scale=None)
    return model.single("ARG_MAX", operands, output)


def pool(x: tuple[int, ...], y: tuple[int, ...], window: tuple[int, int], **options: Any) -> bytes:
    sizes = {"filterHeight": window[0], "filterWidth": window[1], **CONV, **options}
    return unary("MAX_POOL_2D", {"shape": x}, {"shape": y}, **sizes)


def rows(code: str, shape: tuple[int, ...], given: tuple[int, ...] | None = None) -> bytes:
    output = {"L2_NORMALIZATION": {"scale": 1 / 128}, "SOFTMAX": SOFTMAX_OUT}
    output["LOG_SOFTMAX"] = {"scale": 1 / 16, "zero_point": 127}
    options = {"beta": 1.0} if code == "SOFTMAX" else {}
    return unary(
        code,
        {"shape": shape},
        {"shape": shape if given is None else given, **output[code]},
        **options,
    )


def strided(x: tuple[int, ...], y: tuple[int, ...], kernel: tuple[int, int], **o: Any) -> bytes:
    """Give a convolution from two channels to three."""
    return conv(
        {"shape": x}, {"shape": (3, *kernel, 2)}, {}, {"shape": y}, **{"padding": VALID, **o}
    )


def grouped(x: int, w: int, outputs: int) -> bytes:
    shape = (1, 4, 4, x)
    return conv(
        {"shape": shape},
        {"shape": (outputs, 1, 1, w)},
        {"count": outputs},
        {"shape": (1, 4, 4, outputs)},
    )


TAKEN = {
    "an inner axis": position(1, (2, 3, 5, 7), (2, 5, 7)),
    "the last axis": position(-1, (2, 3, 5), (2, 3)),
    "the first axis": position(-3, (2, 3, 5), (3, 5)),
    "the only axis": position(0, (9,), ()),
    "most elements of a window": pool(
        (1, 2048, 2048, 1), (1, 1, 1, 1), (2048, 2048), padding=VALID
    ),
    "a window that is larger than the image": pool((1, 9, 4, 1), (1, 9, 4, 1), (LONG, LONG)),
    "the longest strides": pool((1, 4, 4, 2), (1, 1, 1, 2), (2, 2), strideH=LONG, strideW=LONG),
    "the longest image": pool((1, LONG, 1, 1), (1, LONG, 1, 1), (1, 1)),
    "the widest image": pool((1, 1, LONG, 1), (1, 1, LONG, 1), (1, 1)),
    "a window as large as the image": strided((1, 5, 4, 2), (1, 1, 1, 3), (5, 4)),
    "a stride and a rest": strided((1, 8, 9, 2), (1, 3, 4, 3), (3, 3), strideH=2, strideW=2),
    "a dilation": strided((1, 9, 9, 2), (1, 5, 7, 3), (3, 3), dilationHFactor=2),
    "rows in batches": connected((2, 2, 4), (3, 4), (2, 2, 3)),
    "rows in one": connected((2, 8), (3, 4), (4, 3)),
    "groups of channels": grouped(6, 2, 9),
    "one group for each channel": grouped(4, 1, 4),
    "two outputs of each channel": depthwise((1, 3, 3, 4), 4, depthMultiplier=2),
    "most reduced elements": mean([1, 2], (1, 2), (1, 2048, 2048, 2)),
    "axes from the end": mean([-1, -4], (4, 4), (1, 4, 4, 2)),
    "sizes of 1": mean([1, 2], (1, 1, 1, 2)),
    "four dimensions": rows("L2_NORMALIZATION", (2, 3, 4, 5)),
    "one dimension": rows("L2_NORMALIZATION", (5,)),
    "long rows": rows("L2_NORMALIZATION", (1, LONG)),
    "many probabilities": rows("SOFTMAX", (1, 4095)),
    "many logarithms": rows("LOG_SOFTMAX", (1, 4095)),
}
REFUSED = {
    "an axis too far": position(3, (2, 3, 5), (2, 3)),
    "an axis too low": position(-4, (2, 3, 5), (3, 5)),
    "another dimension that is left out": position(1, (2, 3, 5), (2, 3)),
    "too many elements of a window": pool(
        (1, 2049, 2048, 1), (1, 1, 1, 1), (2049, 2048), padding=VALID
    ),
    "a window too long": pool((1, 4, 4, 2), (1, 4, 4, 2), (LONG + 1, 1)),
    "strides too long": pool((1, 4, 4, 2), (1, 1, 1, 2), (2, 2), strideH=LONG + 1, strideW=LONG),
    "no stride": pool((1, 4, 4, 2), (1, 4, 4, 2), (2, 2), strideH=1, strideW=0),
    "an image too long": pool((1, LONG + 1, 1, 1), (1, 2, 1, 1), (1, 1), strideH=LONG),
    "an image of three dimensions": pool((4, 4, 2), (1, 4, 4, 2), (2, 2)),
    "a window larger than the image": strided((1, 5, 4, 2), (1, 1, 1, 3), (6, 4)),
    "a row too many": strided((1, 8, 9, 2), (1, 4, 4, 3), (3, 3), strideH=2, strideW=2),
    "a column too many": strided((1, 8, 9, 2), (1, 3, 5, 3), (3, 3), strideH=2, strideW=2),
    "an image too many": strided((1, 8, 9, 2), (2, 6, 7, 3), (3, 3)),
    "too little for all rows": connected((2, 2, 4), (3, 4), (2, 3, 3)),
    "outputs that are others": connected((2, 2, 4), (3, 4), (2, 3, 2)),
    "channels that are no group": grouped(6, 4, 6),
    "outputs that are no groups": grouped(6, 2, 8),
    "weights of two images": depthwise((2, 3, 3, 4), 4, depthMultiplier=2),
    "another multiplier": depthwise((1, 3, 3, 4), 4, depthMultiplier=3),
    "too many reduced elements": mean([1, 2], (1, 2), (1, 2049, 2048, 2)),
    "axes too far": mean([1, 4], (1, 2)),
    "axes too low": mean([-5], (1, 2)),
    "other sizes that are left": mean([1, 2], (2, 2)),
    "five dimensions": rows("L2_NORMALIZATION", (1, 2, 3, 4, 5)),
    "no dimension": rows("L2_NORMALIZATION", ()),
    "rows too long": rows("L2_NORMALIZATION", (1, LONG + 1)),
    "too many probabilities": rows("SOFTMAX", (1, 4096)),
    "too many logarithms": rows("LOG_SOFTMAX", (1, 4096)),
    "probabilities of nothing": rows("SOFTMAX", ()),
    "another shape": rows("SOFTMAX", (2, 4), (4, 2)),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken(name: str) -> None:
    assert violations(read(TAKEN[name])) == ()


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    assert len(violations(read(REFUSED[name]))) == 1
