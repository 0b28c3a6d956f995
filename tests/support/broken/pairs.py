"""Models that break a support rule of operators on two tensors or of reductions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.support.models.one_operator import Model, mean, pair

__all__ = ["BROKEN_PAIRS"]


def arg_max(axes: list[int], y: tuple[int, ...], dtype: Any) -> bytes:
    """Give a model of one ARG_MAX."""
    model = Model()
    operands = [model.activation("x"), model.parameters(axes)]
    return model.single("ARG_MAX", operands, model.tensor(y, dtype, name="y"))


BROKEN_PAIRS: list[tuple[Callable[[], bytes], str]] = [
    (
        lambda: pair("MINIMUM", {}, {"zero_point": 1}, {}),
        (
            "operator 0 MINIMUM (b): input 2's scale and zero point must be the first input's, "
            "0.5 and 0, not 0.5 and 1"
        ),
    ),
    (
        lambda: pair("MAXIMUM", {}, {}, {"scale": 0.25}),
        (
            "operator 0 MAXIMUM (y): output's scale and zero point must be the first input's, "
            "0.5 and 0, not 0.25 and 0"
        ),
    ),
    (
        lambda: pair("PRELU", {"scale": 2.0**29}, {"scale": 2.0**-9}, {}),
        (
            "operator 0 PRELU (y): input scale / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
    (
        lambda: pair("PRELU", {"scale": 2.0**20}, {"scale": 2.0**9}, {}),
        (
            "operator 0 PRELU (y): input scale x alpha scale / output scale must be less than "
            "2**30, not 2**30 or more"
        ),
    ),
    (
        lambda: arg_max([1, 2], (1, 2), np.int32),
        "operator 0 ARG_MAX: axis must be one of -4 to 3, not [1, 2]",
    ),
    (
        lambda: arg_max([4], (1, 2), np.int32),
        "operator 0 ARG_MAX: axis must be one of -4 to 3, not [4]",
    ),
    (
        lambda: arg_max([3], (1, 4, 4, 1), np.int32),
        "operator 0 ARG_MAX (y): output must be [1, 4, 4], not [1, 4, 4, 1]",
    ),
    (
        lambda: arg_max([3], (1, 4, 4), np.int16),
        "operator 0 ARG_MAX (y): output must be int32 or int64, not int16",
    ),
    (
        lambda: mean([1, 2], (1, 2), scale=2.0**29, code="SUM"),
        (
            "operator 0 SUM (y): input scale / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
    (
        lambda: pair("SQUARED_DIFFERENCE", {"scale": 2.0**22}, {}, {"scale": 0.25}),
        (
            "operator 0 SQUARED_DIFFERENCE (y): (2 x larger input scale)**2 / output scale must be "
            "less than 2**44, not 2**48 or more"
        ),
    ),
]
