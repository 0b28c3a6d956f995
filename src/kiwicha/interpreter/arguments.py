"""Arguments of the interpreter that LiteRT has too."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kiwicha.errors import UsageError
from kiwicha.interpreter.resolvers import OpResolverType
from kiwicha.zoo import models as zoo

__all__ = ["check_others", "model_of"]

_WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {
    "experimental_delegates": (None, [], ()),
    "experimental_op_resolver_type": (None, *OpResolverType.__members__),
    "experimental_disable_delegate_clustering": (None, False),
    "experimental_default_delegate_latest_features": (None, False),
}
"""LiteRT's other arguments, and what may be given for them: enumerators by their name."""


def model_of(
    path: str | Path | None, content: bytes | bytearray | memoryview | None
) -> tuple[str, Path | bytes, tuple[str, ...]]:
    """Return name, file or content, and labels of the model that is given by path or content.

    Raises
    ------
    UsageError
        If neither or both are, the content is no bytes, or there is no such file and no such name.
    """
    if (path is None) == (content is None):
        given = "neither" if path is None else "both"
        raise UsageError(f"model_path or model_content must be given, not {given}")
    if path is not None:
        if isinstance(path, str):
            return zoo.resolve(path)
        return path.stem, path, zoo.labels_within(path) if path.is_file() else ()
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise UsageError(f"model_content must be bytes, not {type(content).__name__}")
    return "model", bytes(content), ()


def check_others(others: Mapping[str, Any]) -> None:
    """Refuse what is no argument of LiteRT's interpreter, or has an effect there.

    Raises
    ------
    UsageError
        Naming the argument.
    """
    for name, value in others.items():
        if name not in _WITHOUT_EFFECT:
            known = ", ".join(_WITHOUT_EFFECT)
            raise UsageError(f"argument must be one of LiteRT's ({known}), not {name}")
        allowed = _WITHOUT_EFFECT[name]
        if getattr(value, "name", value) not in allowed:
            texts = " or ".join(item if isinstance(item, str) else repr(item) for item in allowed)
            raise UsageError(f"{name} must be {texts}, which have no effect, not {value!r}")
