"""Operators that others add: what a model's ``CUSTOM`` operator means."""

from kiwicha.custom.registry import (
    ENTRY_POINT_GROUP,
    MODEL_PREFIX,
    CustomNode,
    CustomOperator,
    CustomTensor,
    find,
    find_by_hash,
    operators,
    register,
)

__all__ = [
    "ENTRY_POINT_GROUP",
    "MODEL_PREFIX",
    "CustomNode",
    "CustomOperator",
    "CustomTensor",
    "find",
    "find_by_hash",
    "operators",
    "register",
]
