"""Options of signal operators."""

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.custom import MODEL_PREFIX
from kiwicha.errors import ModelError
from tests.support.models.tflite_builder import ModelBuilder


@pytest.mark.parametrize("options", [{}, {"other": 3}])
def test_missing_options_are_named(options: dict[str, int]) -> None:
    model = ModelBuilder()
    x, y = (model.tensor((6,), np.int16) for _ in range(2))
    model.operator(f"{MODEL_PREFIX}SignalRfft", [x], [y], **options)
    with pytest.raises(ModelError, match="operator 0 CUSTOM:SignalRfft: options are damaged"):
        compile_model(model.build(inputs=[x], outputs=[y]), "simd")
