"""Signatures of a model: names for its inputs and outputs."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tflite

from kiwicha.errors import ModelError

__all__ = ["Interface", "Signature", "interface"]

_MOST = 65535
"""Of names; as of tensors."""


@dataclass(frozen=True)
class Signature:
    """Names of tensors.

    Parameters
    ----------
    inputs, outputs : mapping of str to int
        Tensor indices by name, in the file's order.
    """

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True)
class Interface:
    """What a model has for its callers.

    Parameters
    ----------
    outputs : tuple of int
        Tensor indices, before `kiwicha.compiler.tflite.detectors` takes anything off.
    signatures : mapping of str to Signature
        By key; empty if the model has none.
    """

    outputs: tuple[int, ...]
    signatures: Mapping[str, Signature]


def interface(raw: bytes) -> Interface:
    """Return outputs and signatures of a file that `kiwicha.compiler.tflite.reader.read` accepts.

    Raises
    ------
    ModelError
        If the signatures are damaged.
    """
    try:
        model: Any = tflite.Model.GetRootAs(raw, 0)
        outputs = model.Subgraphs(0).OutputsAsNumpy()
        signatures = {
            _text(source.SignatureKey()): Signature(
                _names(source.Inputs, source.InputsLength()),
                _names(source.Outputs, source.OutputsLength()),
            )
            for source in map(model.SignatureDefs, range(_count(model.SignatureDefsLength())))
        }
    except ModelError:
        raise
    except (struct.error, ValueError, TypeError, IndexError, OverflowError) as error:
        raise ModelError(
            "signatures of the model must be whole, not damaged; fetch or convert it again"
        ) from error
    return Interface(tuple(int(index) for index in np.asarray(outputs)), signatures)


def _names(item: Any, count: int) -> dict[str, int]:
    entries = [item(number) for number in range(_count(count))]
    return {_text(entry.Name()): int(entry.TensorIndex()) for entry in entries}


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode(errors="replace")


def _count(count: int) -> int:
    if count > _MOST:
        raise ValueError(count)
    return count
