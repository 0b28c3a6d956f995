"""Calls of a custom operator's parts in Python: what they may give, and errors with their place."""

import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.custom import MODEL_PREFIX, CustomNode, CustomOperator
from kiwicha.errors import UsageError

__all__ = ["parameters_of", "problems_of", "result_of"]


def problems_of(operator: CustomOperator, node: CustomNode, index: int) -> list[str]:
    """Return what ``check`` finds wrong with operator number ``index`` of a model.

    Raises
    ------
    UsageError
        If it raises, or gives something else than sentences.
    """

    def ask() -> Any:
        given: Any = operator.check(node)
        return given if given is None or isinstance(given, str) else list(given)

    found = _call(operator, "check", index, ask)
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        rule = f"must give an iterable of str, one for a problem, not {found!r}"
        raise _breach(operator, "check", index, rule)
    return found


def parameters_of(operator: CustomOperator, node: CustomNode, index: int) -> bytes:
    """Return what ``parameters`` gives for operator number ``index`` of a model.

    Raises
    ------
    UsageError
        If it raises, or gives something else than bytes.
    """
    found = _call(operator, "parameters", index, lambda: operator.parameters(node))
    if not isinstance(found, bytes):
        rule = f"must give bytes, not {type(found).__name__}"
        raise _breach(operator, "parameters", index, rule)
    return found


def result_of(
    operator: CustomOperator,
    inputs: Sequence[NDArray[np.int8]],
    parameters: bytes,
    index: int,
    *,
    count: int,
    size_bytes: int,
) -> NDArray[np.int8]:
    """Return what ``reference`` gives for operator number ``index`` of a model, as bytes.

    Parameters
    ----------
    operator : CustomOperator
        Whose reference.
    inputs : sequence of ndarray
        Flat int8 arrays of the inputs' bytes.
    parameters : bytes
        See `parameters_of`.
    index : int
        Names the operator in errors.
    count, size_bytes : int
        Elements of the output, and the bytes of all of them.

    Raises
    ------
    UsageError
        If it raises, or gives something else than an array of the output's values.
    """
    given = _call(operator, "reference", index, lambda: operator.reference(inputs, parameters))
    is_array = isinstance(given, np.ndarray | np.generic)
    is_wide = size_bytes > count
    kinds: tuple[type[np.generic], ...] = (np.int8, np.uint8, *((np.int32,) if is_wide else ()))
    if not is_array or given.dtype not in kinds or given.nbytes != size_bytes:
        wanted = f"{count} int8 or uint8 values"
        if is_wide:
            wanted = f"{count} int32 values, or their {size_bytes} bytes as int8 or uint8"
        got = f"{given.dtype} {list(given.shape)}" if is_array else type(given).__name__
        rule = f"must give an array of {wanted}, not {got}"
        raise _breach(operator, "reference", index, rule)
    return np.ascontiguousarray(given).reshape(-1).view(np.int8)


def _call(operator: CustomOperator, part: str, index: int, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        text = "".join(traceback.format_exception_only(error)).strip()
        raise _breach(operator, part, index, f"must not raise {text}", error) from error


def _breach(
    operator: CustomOperator, part: str, index: int, rule: str, error: Exception | None = None
) -> UsageError:
    """Return the error for a part that breaks a rule: which layer, which operator, and where."""
    code = getattr(getattr(operator, part), "__code__", None)
    places = [(code.co_filename, code.co_firstlineno)] if code else []
    for frame, line in traceback.walk_tb(error.__traceback__ if error else None):
        if frame.f_code.co_filename != __file__:
            places.insert(0, (frame.f_code.co_filename, line))
            break
    remedy = "mend it in {}, line {}".format(*places[0]) if places else "mend its package"
    where = f"operator {index} {MODEL_PREFIX}{operator.name}"
    return UsageError(f"{where}: {part} of the custom operator {rule}; {remedy}")
