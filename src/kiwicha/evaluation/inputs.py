"""Inputs as they are stored in data sets, as elements of a model's input tensor."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import DType
from kiwicha.program.parts import IoTensor

__all__ = ["BYTE_TYPES", "pixels", "quantized"]

BYTE_TYPES = {DType.INT8: np.int8, DType.UINT8: np.uint8}


def pixels(values: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Return pixels from 0 to 255 as int8, 128 less, as pictures become."""
    return (values ^ np.uint8(0x80)).view(np.int8)


def quantized(values: NDArray[Any], tensor: IoTensor) -> NDArray[Any]:
    """Return real numbers as elements of an int8 or uint8 tensor.

    Parameters
    ----------
    values : ndarray
        Rounded half away from zero, as QUANTIZE rounds; what is too large becomes the largest.
    tensor : IoTensor
        Has the scale.
    """
    wanted = BYTE_TYPES[tensor.dtype]
    info = np.iinfo(wanted)
    scaled = values.astype(np.float32) / np.float32(tensor.scale)
    rounded = np.trunc(scaled + np.copysign(np.float32(0.5), scaled)) + tensor.zero_point
    clipped: NDArray[Any] = np.clip(rounded, info.min, info.max).astype(wanted)
    return clipped
