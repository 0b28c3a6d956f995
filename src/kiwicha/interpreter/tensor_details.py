"""What TensorFlow Lite's interpreter says about tensors, in its terms."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler.tflite.tensor import Tensor, TensorType

__all__ = ["Details", "constant", "details"]

Details = dict[str, Any]

_TYPES: dict[TensorType, type[np.generic]] = {
    TensorType.FLOAT32: np.float32,
    TensorType.FLOAT16: np.float16,
    TensorType.INT32: np.int32,
    TensorType.UINT8: np.uint8,
    TensorType.INT64: np.int64,
    TensorType.BOOL: np.bool_,
    TensorType.INT16: np.int16,
    TensorType.INT8: np.int8,
}


def constant(tensor: Tensor) -> NDArray[Any] | None:
    """Return the values of a constant as the model has them; None of what is computed, or packed.

    Parameters
    ----------
    tensor : Tensor
        Of the graph.
    """
    dtype = _TYPES.get(tensor.type)
    if tensor.data is None or dtype is None or tensor.is_sparse:
        return None
    values = tensor.data.view(np.dtype(dtype).newbyteorder("<")).reshape(tensor.shape)
    if tensor.is_shifted:
        return (values.astype(np.int16) + tensor.shift).astype(np.uint8)
    return values.astype(dtype)


def details(tensor: Tensor, shape: tuple[int, ...]) -> Details | None:
    """Return a tensor's description; None of a type that numpy lacks.

    Parameters
    ----------
    tensor : Tensor
        Of the graph; those of uint8 are described as they are in the model.
    shape : tuple of int
        Of its values.

    Returns
    -------
    dict or None
        ``name``, ``index``, ``shape``, ``shape_signature``, ``dtype``, ``quantization`` (scale,
        zero point; 0 unless there is one of each), ``quantization_parameters`` and
        ``sparsity_parameters``.
    """
    dtype = np.uint8 if tensor.is_shifted else _TYPES.get(tensor.type)
    if dtype is None:
        return None
    scales, zero_points, axis = np.zeros(0, np.float32), np.zeros(0, np.int32), 0
    if tensor.quantization is not None:
        scales = tensor.quantization.scales.astype(np.float32)
        zero_points = (tensor.quantization.zero_points + tensor.shift).astype(np.int32)
        axis = tensor.quantization.dimension
    is_one = len(scales) == 1
    return {
        "name": tensor.name,
        "index": tensor.index,
        "shape": np.array(shape, np.int32),
        "shape_signature": np.array(tensor.shape_signature or shape, np.int32),
        "dtype": dtype,
        "quantization": (float(scales[0]), int(zero_points[0])) if is_one else (0.0, 0),
        "quantization_parameters": {
            "scales": scales,
            "zero_points": zero_points,
            "quantized_dimension": axis,
        },
        "sparsity_parameters": {},
    }
