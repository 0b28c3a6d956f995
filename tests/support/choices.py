"""What tests are run for: public models, and engines."""

from typing import Any

import pytest

__all__ = ["EACH_ENGINE", "INT8_MODELS", "at_night", "by_day"]

INT8_MODELS = (
    "cfu_mobilenetv2_160_035",
    "mlperf_ad01_int8",
    "mlperf_kws_ref_model",
    "mlperf_pretrainedResnet_quant",
    "mlperf_vww_96_int8",
    "person_detect",
)
"""Public int8 models with golden outputs, by the stem of their file."""

EACH_ENGINE = pytest.mark.parametrize(
    "config",
    ["64", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("32", "128", "256"))],
)
"""Of a test that simulates: the usual engine, and at night the others."""


def by_day(*values: Any) -> list[Any]:
    """Return values for ``parametrize``, of which tests take the first by day, all at night.

    Parameters
    ----------
    *values : Any
        Each of one parameter, or a tuple of as many as there are.
    """
    return [values[0], *(at_night(value) for value in values[1:])]


def at_night(value: Any) -> Any:
    """Return a value for ``parametrize`` whose tests run at night alone; as for `by_day`."""
    parts = value if isinstance(value, tuple) else (value,)
    return pytest.param(*parts, marks=pytest.mark.nightly)
