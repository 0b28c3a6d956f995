"""Records of operators on integers and booleans, and of those that indices steer."""

from typing import Any

from kiwicha.compiler.tflite.operator_kinds import (
    CARRIED_TYPES,
    REDUCER_OPTIONS,
    Family,
    OperatorKind,
    OptionsTable,
)
from kiwicha.compiler.tflite.tensor import TensorType

__all__ = ["GLUE_OPERATORS", "PAIRS_OF_NUMBERS", "SHORTS_TOO"]

_TWO = ("input 1", "input 2")
_ALL = (*_TWO, "output")
_INTEGERS = (TensorType.INT32, TensorType.INT64)
_BYTES_TOO = (TensorType.INT8, *_INTEGERS)
_SHORT = TensorType.INT16
_BOOL = (TensorType.BOOL,)
_FUSED = {"activation": "FusedActivationFunction"}


def _alike(names: tuple[str, ...], *types: TensorType) -> dict[str, Any]:
    """Return what a record says of operands that have one of several types, all the same one."""
    return {"types": dict.fromkeys(names, types), "alike": names}


PAIRS_OF_NUMBERS = _alike(_ALL, *_BYTES_TOO, _SHORT)
"""What records of operators on quantized bytes say that exist on plain integers and int16, too."""
SHORTS_TOO = _alike(("input", "output"), TensorType.INT8, _SHORT)
"""What records of operators on quantized bytes say that exist on quantized int16, too."""
_DIVISION: dict[str, Any] = {
    "family": Family.INTEGER,
    "activations": _TWO,
    **_alike(_ALL, TensorType.INT32),
}
_LOGICAL = OperatorKind(family=Family.INTEGER, activations=_TWO, **_alike(_ALL, *_BOOL))
_SELECT = OperatorKind(
    activations=("condition", *_TWO),
    types={"condition": _BOOL, **dict.fromkeys(_ALL, CARRIED_TYPES)},
    alike=_ALL,
    is_scaled=False,
)
_OF_BOOLEANS = OperatorKind(
    family=Family.REDUCTION,
    options=REDUCER_OPTIONS,
    constants={1: "axes"},
    **_alike(("input", "output"), *_BOOL),
)


def _comparison(*types: TensorType) -> OperatorKind:
    return OperatorKind(
        family=Family.INTEGER | Family.COMPARISON,
        activations=_TWO,
        types={**dict.fromkeys(_TWO, types), "output": _BOOL},
        alike=_TWO,
    )


GLUE_OPERATORS: dict[str, OperatorKind] = {
    "CAST": OperatorKind(
        types=dict.fromkeys(("input", "output"), (*CARRIED_TYPES, TensorType.UINT32)),
        is_scaled=False,
    ),
    "CUMSUM": OperatorKind(
        options=OptionsTable(
            "CumsumOptions",
            {"is_exclusive": "Exclusive", "is_reverse": "Reverse"},
            is_required=False,
        ),
        constants={1: "axis"},
        **_alike(("input", "output"), *_BYTES_TOO),
    ),
    "DIV": OperatorKind(
        family=Family.INTEGER,
        activations=_TWO,
        options=OptionsTable("DivOptions", _FUSED, is_required=False),
        **_alike(_ALL, TensorType.INT8, TensorType.INT32),
        is_signed=True,
    ),
    "EMBEDDING_LOOKUP": OperatorKind(
        family=Family.INDEXED,
        **_alike(("input", "output"), *CARRIED_TYPES),
        is_scaled=False,
        indices={0: "lookup"},
    ),
    **dict.fromkeys(("EQUAL", "NOT_EQUAL"), _comparison(*_BYTES_TOO, *_BOOL)),
    **dict.fromkeys(("GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"), _comparison(*_BYTES_TOO)),
    "FILL": OperatorKind(family=Family.MOVE, constants={0: "dims"}, is_scaled=False),
    "FLOOR_DIV": OperatorKind(**_DIVISION),
    "FLOOR_MOD": OperatorKind(**_DIVISION),
    "GATHER_ND": OperatorKind(
        family=Family.INDEXED,
        **_alike(("input", "output"), *CARRIED_TYPES),
        is_scaled=False,
        indices={1: "indices"},
    ),
    "LOGICAL_AND": _LOGICAL,
    "LOGICAL_NOT": OperatorKind(family=Family.INTEGER, **_alike(("input", "output"), *_BOOL)),
    "LOGICAL_OR": _LOGICAL,
    "NEG": OperatorKind(family=Family.INTEGER, **_alike(("input", "output"), *_INTEGERS)),
    "REDUCE_ALL": _OF_BOOLEANS,
    "REDUCE_ANY": _OF_BOOLEANS,
    "SCATTER_ND": OperatorKind(
        family=Family.INDEXED,
        activations=("updates",),
        constants={2: "shape"},
        indices={0: "indices"},
        **_alike(("updates", "output"), *_BYTES_TOO, *_BOOL),
        is_scaled=False,
    ),
    "SELECT": _SELECT,
    "SELECT_V2": _SELECT,
    "TOPK_V2": OperatorKind(
        constants={1: "k"},
        types={
            **dict.fromkeys(("input", "output 1"), (*_BYTES_TOO, _SHORT)),
            "output 2": (TensorType.INT32,),
        },
        alike=("input", "output 1"),
        outputs=2,
        is_scaled=False,
    ),
}
"""The supported operators of this kind."""
