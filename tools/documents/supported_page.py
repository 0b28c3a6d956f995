"""The page on supported models, from the compiler's rules and the engine's limits."""

from collections.abc import Collection

from kiwicha.compiler import FOLDED_SHAPES, INLINED, onnx_rules, support_rules, supported_operators
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
        INLINED,
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
    lines += [
        "",
        "## ONNX models",
        "",
        "`.onnx` files are read in QDQ form, as onnxruntime's `quantize_static` and PyTorch's",
        "exports have it, and become the operators above; the rules for these hold as well. Images",
        "are NCHW in the file and at the model's edges, and NHWC inside. What stands between",
        "DequantizeLinear and QuantizeLinear is computed in fixed point with the scales of both,",
        "and rounded once. onnxruntime computes it in float32: an operator's results differ by one",
        "step at most, and only at, or next to, an exact half. Exact halves are frequent in pools",
        "of even windows and in linear resizing with one scale for input and output; onnxruntime",
        "rounds them to even where its float32 gives the half, Kiwicha away from zero (upwards in",
        "a resized image).",
        "",
    ]
    lines += [f"- {', '.join(_plain(names))}: {text}" for names, text in onnx_rules()]
    return "\n".join(lines) + "\n"


def _plain(names: Collection[str]) -> list[str]:
    """Return operators without those of other domains that are the same."""
    return [name for name in names if ":" not in name]


def _names(operators: Collection[str]) -> str:
    return "All" if {*operators} == {*ENGINE_OPERATORS} else ", ".join(operators)
