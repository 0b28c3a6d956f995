"""The table of operators: where each runs, beside where Vela places it on an Ethos-U."""

from kiwicha.compiler import CONTROL_FLOW, FOLDED_ONLY, supported_operators
from kiwicha.compiler.engine.select.limits import ENGINE_OPERATORS
from kiwicha.compiler.engine.select.recurrent import RECURRENT_OPERATORS
from kiwicha.compiler.engine.select.shorts.elements import SHORT_ELEMENT_OPERATORS
from kiwicha.compiler.engine.select.shorts.layers import SHORT_OPERATORS
from kiwicha.compiler.tflite.operators import CARRIED_TYPES, OPERATORS, Family
from kiwicha.compiler.tflite.tensor import TensorType
from tools.documents.markdown import table
from tools.documents.vela_operators import vela_operators

__all__ = ["REFUSED", "WITHOUT_KERNELS", "operator_table"]

REFUSED: dict[str, str] = {}
"""Why we refuse operators that Vela places."""
WITHOUT_KERNELS = ("CEIL", "COS", "FLOOR", "ROUND", "SIGN", "SIN", "SQRT", "SQUARE")
"""Operators of which no interpreter has a kernel for int8 or uint8: there is nothing to equal."""
_WITHOUT_STEPS = Family.RESHAPE
"""What gives a tensor another name."""
_YES, _NO = "yes", ""


def operator_table() -> list[str]:
    """Return the lines of the table, and what it says about Vela."""
    vela = vela_operators()
    names = sorted({
        *supported_operators(),
        *FOLDED_ONLY,
        *CONTROL_FLOW,
        *(n for ns in vela.operators.values() for n in ns),
    })
    rows = [
        [name, _placement(name), *(_YES if name in ns else _NO for ns in vela.operators.values())]
        for name in names
    ]
    return [
        *table(["operator", "where", *vela.operators], rows),
        "",
        "*engine; int32: CPU* means that quantized bytes are for the engine, plain integers for",
        "the CPU. The last columns are the operators that Vela, Arm's compiler, can place on an",
        f"Ethos-U (`python -m tools.documents.vela_operators` asks version {vela.version}); others",
        "it leaves to the CPU beside. It places NEG of int8; no interpreter has a kernel for that.",
        "",
        f"Refused are, among others, {', '.join(WITHOUT_KERNELS)}: neither TensorFlow Lite Micro",
        "nor LiteRT has kernels of int8 or uint8 for these, so no answer is right or wrong.",
    ]


_ON_SHORT_ENGINES = {*SHORT_OPERATORS, *SHORT_ELEMENT_OPERATORS}
"""What engines with ``-int16`` compute of int16."""


def _placement(name: str) -> str:
    if name in {*FOLDED_ONLY, *CONTROL_FLOW}:
        return "compiler"
    if name not in OPERATORS:
        return f"refused: {REFUSED[name]}"
    if OPERATORS[name].family & _WITHOUT_STEPS:
        return "nothing to do"
    if name in RECURRENT_OPERATORS:
        return "CPU, with `-recurrent` engine"
    others = ", ".join(kind.text for kind in _other_types(name))
    if name in ENGINE_OPERATORS:
        return f"engine; {others}: CPU{_on_some_engines(name)}" if others else "engine"
    return f"CPU: {others}" if others else "CPU"


def _on_some_engines(name: str) -> str:
    """Return where else the last of an operator's types is computed, which is int16."""
    return ", with `-int16` engine" if name in _ON_SHORT_ENGINES else ""


def _other_types(name: str) -> list[TensorType]:
    """Return the types with which an operator computes on the CPU, where those are special."""
    kind = OPERATORS[name]
    types = kind.types[kind.alike[0]] if kind.alike else CARRIED_TYPES
    is_on_engine = name in ENGINE_OPERATORS
    return [
        item
        for item in types
        if types != CARRIED_TYPES and not (item is TensorType.INT8 and is_on_engine)
    ]
