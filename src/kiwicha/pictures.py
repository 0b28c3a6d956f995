"""Input files as tensor bytes: raw tensors as they are, pictures fitted to the tensor."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

from kiwicha.contract.program import DType
from kiwicha.errors import UsageError
from kiwicha.program.parts import IoTensor

__all__ = [
    "PICTURE_SUFFIXES",
    "PictureFormat",
    "describe",
    "picture_bytes",
    "picture_format",
    "tensor_bytes",
]

PICTURE_SUFFIXES = (
    ".bmp",
    ".gif",
    ".jpeg",
    ".jpg",
    ".pgm",
    ".png",
    ".ppm",
    ".tif",
    ".tiff",
    ".webp",
)
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
_NO_PICTURE = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
_MODES = {1: "L", 3: "RGB"}


def describe(tensor: IoTensor) -> str:
    """Return type, shape and size of a tensor in words."""
    shape = "x".join(str(size) for size in tensor.shape) or "scalar"
    return f"{tensor.dtype.name.lower()} {shape}, {tensor.ref.bytes} bytes"


def tensor_bytes(tensor: IoTensor, path: Path) -> bytes:
    """Return the bytes of an input tensor from a file.

    A file with a picture's suffix is a picture. Any other file is the raw tensor if it has the
    tensor's size, and a picture if it does not and is one.

    Parameters
    ----------
    tensor : IoTensor
        The model's input.
    path : Path
        Raw tensor or picture.

    Raises
    ------
    UsageError
        If the file cannot be read, has the wrong size, or is a picture and the tensor takes none.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"input must be a readable file: {error.strerror} ({path})") from error
    is_named_picture = path.suffix.lower() in PICTURE_SUFFIXES
    if not is_named_picture and len(raw) == tensor.ref.bytes:
        return raw
    if is_named_picture or _is_picture(path):
        return picture_bytes(tensor, path)
    raise UsageError(
        f"input {tensor.name!r} must be {describe(tensor)}, or a picture, "
        f"not {len(raw)} bytes ({path})"
    )


def _is_picture(path: Path) -> bool:
    try:
        with _opened(path):
            return True
    except _NO_PICTURE:
        return False


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    with warnings.catch_warnings():
        # A picture of half the limit is a large one, but may be meant.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        with Image.open(path, formats=_FORMATS) as picture:
            yield picture


@dataclass(frozen=True)
class PictureFormat:
    """How a tensor holds a picture.

    Parameters
    ----------
    channels : int
        1, grey, or 3: red, green and blue.
    height, width : int
        In pixels.
    is_planar : bool
        The channels come one after the other.
    """

    channels: int
    height: int
    width: int
    is_planar: bool


def picture_format(tensor: IoTensor) -> PictureFormat | None:
    """Return how a tensor holds a picture; None if it takes none."""
    shape = tensor.shape
    if tensor.dtype not in {DType.INT8, DType.UINT8} or len(shape) != 4 or shape[0] != 1:
        return None
    if shape[3] in _MODES:
        return PictureFormat(shape[3], shape[1], shape[2], is_planar=False)
    return PictureFormat(*shape[1:], is_planar=True) if shape[1] in _MODES else None


def picture_bytes(tensor: IoTensor, path: Path) -> bytes:
    """Return a picture as the bytes of an input tensor.

    The picture becomes grey (ITU-R 601 luma) or RGB, is resized bilinearly to the tensor's height
    and width without keeping its proportions, and pixels 0 to 255 become uint8 0 to 255 or int8
    -128 to 127: the tensor's whole range, whatever real range its scale gives it.

    Parameters
    ----------
    tensor : IoTensor
        int8 or uint8 [1, height, width, 1 or 3], or [1, 1 or 3, height, width].
    path : Path
        The picture.

    Raises
    ------
    UsageError
        If the tensor has another type or shape, or the file is not a whole picture.
    """
    found = picture_format(tensor)
    if found is None:
        raise UsageError(
            f"input {tensor.name!r} must be int8 or uint8 1xHxWx1 or 1xHxWx3 to take a picture, "
            f"or the same with the channels first, not {describe(tensor)} ({path}); give its raw "
            "bytes"
        )
    try:
        with _opened(path) as opened:
            upright = ImageOps.exif_transpose(opened)
            picture = upright.convert(_MODES[found.channels])
    except _NO_PICTURE as error:
        raise UsageError(f"input must be a whole picture: {error} ({path})") from error
    resized = picture.resize((found.width, found.height), Image.Resampling.BILINEAR)
    planes = resized.split() if found.is_planar else (resized,)
    pixels = b"".join(plane.tobytes() for plane in planes)
    # x - 128 in two's complement.
    return pixels if tensor.dtype == DType.UINT8 else bytes(pixel ^ 0x80 for pixel in pixels)
