"""The page on supported models, from the compiler's rules and the engine's limits."""

from collections.abc import Collection

from kiwicha.compiler import FOLDED_SHAPES, support_rules, supported_operators
from kiwicha.compiler.engine.select.limits import ENGINE_OPERATORS, engine_limits
from tools.documents.operator_table import operator_table

__all__ = ["supported_page"]


def supported_page() -> str:
    """Return the page as Markdown."""
    lines = [
        "# Supported models",
        "",
        "Written by `python -m tools.documents` from the compiler's support rules. A model that",
        "breaks one is refused, with every violation listed by operator index and name.",
        "",
        "## Operators",
        "",
        "The CPU runs every operator. An engine (`--config 32`, `64`, `128` or `256`) runs those",
        "that the table says, within the limits below, if a stripe of their tensors fits the",
        "scratchpad. Images can have any number of channels. For each layer on the CPU,",
        "`kiwicha compile` names the limit that it exceeds.",
        "",
        FOLDED_SHAPES,
        "",
        *operator_table(),
        "",
        "## Limits of the engine",
        "",
        *(f"- {_names(operators)}: {text}" for text, operators in engine_limits()),
    ]
    general, special = [], []
    for text, operators in support_rules():
        if set(operators) in (set(), set(supported_operators())):
            general.append(f"- {text}")
        else:
            special.append(f"- {', '.join(operators)}: {text}")
    lines += ["", "## Rules for every model", "", *general]
    lines += ["", "## Rules by operator", "", *special]
    return "\n".join(lines) + "\n"


def _names(operators: Collection[str]) -> str:
    return "All" if {*operators} == {*ENGINE_OPERATORS} else ", ".join(operators)
