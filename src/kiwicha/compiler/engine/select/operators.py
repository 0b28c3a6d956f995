"""Operators that the engine does, and of which kind: for documents. A test holds it to the code."""

__all__ = ["ENGINE_OPERATORS"]

_ROWS = "up to 255 kernel rows, and "
_ONE_NUMBER = "a tensor and one constant number"
_PAIRS = (
    "two tensors of one shape, or one of them with a single pixel; a tensor and one constant "
    "number, or one for each channel"
)

ENGINE_OPERATORS = {
    "ADD": _PAIRS,
    "AVERAGE_POOL_2D": (
        "up to 255 window rows, and 8 window columns for each column of stride, or one window of"
        " the whole image (its size as for MEAN); up to 64 jobs for what its borders make of it"
    ),
    "CONV_2D": (
        f"{_ROWS}2048 weights of one output, padded to 8 channels; in groups, those of all"
        " channels that 8 outputs read, if a job for each block of channels is faster than the CPU"
    ),
    "DEPTHWISE_CONV_2D": (
        f"{_ROWS}with one output of each channel, 8 kernel columns (those that dilation skips"
        " count) for each column of stride; others have up to 256 kernel elements, if a job for"
        " each block of channels is faster than the CPU"
    ),
    "FULLY_CONNECTED": "up to 2048 inputs",
    "HARD_SWISH": "any",
    "LEAKY_RELU": "any",
    "LOGISTIC": "any",
    "MAXIMUM": _ONE_NUMBER,
    "MAX_POOL_2D": "up to 255 window rows and 255 window columns",
    "MEAN": "over dimensions next to each other, such as height and width, if others are behind:"
    " a number of elements that is r * c with r * ceil(c / 8) at most 256, as up to 32 x 64",
    "MINIMUM": _ONE_NUMBER,
    "MUL": _PAIRS,
    "PRELU": _ONE_NUMBER,
    "QUANTIZE": "from int8 or uint8",
    "RELU": "any",
    "RELU6": "any",
    "SUB": _PAIRS,
    "SUM": "as MEAN",
    "TANH": "any",
}
"""What must hold for a layer to be one of the engine's; the CPU does all others."""
