"""What element types of models are called in Programs."""

from kiwicha.compiler.tflite.tensor import Tensor, TensorType
from kiwicha.contract.program import DType

__all__ = ["DTYPES", "dtype_in_file"]

DTYPES = {
    TensorType.INT8: DType.INT8,
    TensorType.INT32: DType.INT32,
    TensorType.FLOAT32: DType.FLOAT32,
    TensorType.UINT8: DType.UINT8,
    TensorType.INT64: DType.INT64,
    TensorType.INT16: DType.INT16,
    TensorType.BOOL: DType.BOOL,
    TensorType.UINT32: DType.UINT32,
}
"""Types that tensors of a Program can have."""


def dtype_in_file(tensor: Tensor) -> DType:
    """Return the type that a tensor has in the model: uint8 is int8 within a Program."""
    return DType.UINT8 if tensor.is_shifted else DTYPES[tensor.type]
