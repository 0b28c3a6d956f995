"""The compiler: from a TFLite or ONNX model to a Program.

`compile_model` runs all stages; `kiwicha.compiler.driver` names them in order.
"""

from kiwicha.compiler.check.check import support_rules, supported_operators, violations
from kiwicha.compiler.driver import (
    Compilation,
    compile_model,
    compile_stages,
    require_supported,
    with_double_buffer,
)
from kiwicha.compiler.dump import STAGES, dump
from kiwicha.compiler.onnx.formats import read
from kiwicha.compiler.onnx.reader import onnx_rules
from kiwicha.compiler.tflite.control_flow import CONTROL_FLOW, INLINED
from kiwicha.compiler.tflite.shape_folding import FOLDED_ONLY, FOLDED_SHAPES
from kiwicha.program.listing import listing

__all__ = [
    "CONTROL_FLOW",
    "FOLDED_ONLY",
    "FOLDED_SHAPES",
    "INLINED",
    "STAGES",
    "Compilation",
    "compile_model",
    "compile_stages",
    "dump",
    "listing",
    "onnx_rules",
    "read",
    "require_supported",
    "support_rules",
    "supported_operators",
    "violations",
    "with_double_buffer",
]
