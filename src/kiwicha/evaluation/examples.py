"""Labelled data: a folder of pictures for each class, or arrays in an ``.npz`` file."""

import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract.program import DType
from kiwicha.errors import UsageError, reason
from kiwicha.evaluation.inputs import BYTE_TYPES, pixels, quantized
from kiwicha.pictures import describe, tensor_bytes
from kiwicha.program.parts import IoTensor

__all__ = ["Examples", "read_examples"]

_INPUT_NAMES = ("x", "x_test", "images", "inputs", "data")
_LABEL_NAMES = ("y", "y_test", "labels", "targets")


@dataclass(frozen=True)
class Examples:
    """Inputs with the right answers.

    Parameters
    ----------
    classes : tuple of int
        The right element of the output, for each example.
    read : callable
        Returns the input tensor's bytes of an example, by its number.
    """

    classes: tuple[int, ...]
    read: Callable[[int], bytes]

    def __len__(self) -> int:
        return len(self.classes)

    def chunks(self, size: int) -> Iterator[list[bytes]]:
        """Return the inputs, so many at a time."""
        for start in range(0, len(self), size):
            yield [self.read(number) for number in range(len(self))[start : start + size]]


def read_examples(
    path: Path, tensor: IoTensor, labels: Sequence[str], count: int, limit: int | None = None
) -> Examples:
    """Return labelled data.

    Parameters
    ----------
    path : Path
        A folder with a folder for each class, or an ``.npz`` file with inputs and classes.
    tensor : IoTensor
        The model's input.
    labels : sequence of str
        What each element of the output means; empty if unknown.
    count : int
        How many elements the output has.
    limit : int, optional
        Of a folder, at most so many of each class; of arrays, so many in all.

    Raises
    ------
    UsageError
        If there is no data, or it does not fit the model.
    """
    if path.is_dir():
        return _from_folder(path, tensor, labels, count, limit)
    if path.suffix == ".npz":
        return _from_arrays(path, tensor, count, limit)
    raise UsageError(f"data must be a folder of folders with pictures, or an .npz file ({path})")


def _from_folder(
    path: Path, tensor: IoTensor, labels: Sequence[str], count: int, limit: int | None
) -> Examples:
    folders = sorted(one for one in path.iterdir() if one.is_dir() and one.name[0] != ".")
    numbers = {_plain(label): number for number, label in enumerate(labels)}
    unknown = []
    found: list[tuple[Path, int]] = []
    for folder in folders:
        number = numbers.get(_plain(folder.name))
        if number is None and folder.name.isdecimal() and int(folder.name) < count:
            number = int(folder.name)
        if number is None:
            unknown.append(folder.name)
            continue
        files = sorted(one for one in folder.iterdir() if one.is_file() and one.name[0] != ".")
        found += [(file, number) for file in files[:limit]]
    if unknown:
        known = ", ".join(labels) or "not known; give --labels F"
        raise UsageError(
            f"folders of data must be named after labels or be numbers below {count}, not "
            f"{', '.join(unknown)} ({path}; labels: {known})"
        )
    if not found:
        raise UsageError(f"data must have a folder with pictures for each class ({path})")
    return Examples(
        tuple(number for _, number in found), lambda k: tensor_bytes(tensor, found[k][0])
    )


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ").replace("-", " ")


def _from_arrays(path: Path, tensor: IoTensor, count: int, limit: int | None) -> Examples:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name.casefold(): file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise UsageError(f"data must be a readable .npz file: {reason(error)} ({path})") from error
    inputs, classes = (_array(arrays, names, path) for names in (_INPUT_NAMES, _LABEL_NAMES))
    # One of N is as good as a number.
    if classes.ndim == 2 and classes.shape[1] == count > 1:
        classes = classes.argmax(axis=1)
    classes = classes.reshape(-1)
    is_whole = np.issubdtype(classes.dtype, np.integer)
    if not is_whole or not len(classes) or classes.min() < 0 or classes.max() >= count:
        raise UsageError(f"classes must be whole numbers from 0 to {count - 1} ({path})")
    shape = tensor.shape[1:] if tensor.shape and tensor.shape[0] == 1 else tensor.shape
    if len(inputs) != len(classes) or np.prod(inputs.shape[1:]) != np.prod(shape):
        raise UsageError(
            f"inputs must be {len(classes)}, as many as classes, and each {describe(tensor)}, not "
            f"{inputs.dtype} {'x'.join(map(str, inputs.shape))} ({path})"
        )
    convert = _converter(inputs.dtype, tensor, path)
    numbers = tuple(int(number) for number in classes[:limit])
    return Examples(numbers, lambda k: convert(inputs[k]).tobytes())


def _array(arrays: dict[str, NDArray[Any]], names: Sequence[str], path: Path) -> NDArray[Any]:
    for name in names:
        if name in arrays:
            return arrays[name]
    known = ", ".join(arrays) or "nothing"
    raise UsageError(f"data must have an array named {' or '.join(names)}, not {known} ({path})")


def _converter(
    dtype: np.dtype[Any], tensor: IoTensor, path: Path
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return what makes the model's input of an element of an array."""
    wanted = BYTE_TYPES.get(tensor.dtype)
    if dtype == wanted or (tensor.dtype == DType.FLOAT32 and dtype == np.float32):
        return np.ascontiguousarray
    if wanted is np.int8 and dtype == np.uint8:
        return pixels
    if wanted is None or not np.issubdtype(dtype, np.floating):
        kinds = f"{describe(tensor)}, or real numbers"
        raise UsageError(f"inputs must be {kinds}, not {dtype} ({path})")
    return lambda value: quantized(value, tensor)
