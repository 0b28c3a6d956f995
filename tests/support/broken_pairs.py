"""Models that break a support rule of operators on two tensors or of reductions."""

from collections.abc import Callable

from support.one_operator import mean, pair

__all__ = ["BROKEN_PAIRS"]

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
        lambda: mean([1, 2], (1, 2), scale=2.0**29, code="SUM"),
        (
            "operator 0 SUM (y): input scale / output scale must be less than 2**30, "
            "not 2**30 or more"
        ),
    ),
]
