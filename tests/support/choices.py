"""What tests are run for: public models, and engines."""

import pytest

__all__ = ["EACH_ENGINE", "INT8_MODELS"]

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
    [
        "64",
        pytest.param("32", marks=pytest.mark.nightly),
        pytest.param("128", marks=pytest.mark.nightly),
    ],
)
"""Of a test that simulates: the usual engine, and at night the others."""
