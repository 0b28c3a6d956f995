"""What users can do about an ONNX model that is refused."""

from collections.abc import Sequence

from kiwicha.compiler.onnx.model import OnnxModel
from kiwicha.compiler.onnx.operators import OPERATORS
from kiwicha.errors import Violation

__all__ = ["QUANTIZE", "is_quantized", "remedies"]

QUANTIZE = (
    "from onnxruntime.quantization import QuantFormat, QuantType, quantize_static",
    "types = dict(activation_type=QuantType.QInt8, weight_type=QuantType.QInt8)",
    (
        'quantize_static("float.onnx", "int8.onnx", reader, quant_format=QuantFormat.QDQ, '
        "per_channel=True, **types)"
    ),
)
"""The three lines that quantize a model; ``reader`` gives inputs."""
_LINEAR = ("QuantizeLinear", "DequantizeLinear")


def is_quantized(model: OnnxModel) -> bool:
    """Return whether a model is in QDQ form, at least in part."""
    return any(node.kind.endswith(_LINEAR) for node in model.nodes)


def remedies(
    model: OnnxModel, violations: Sequence[Violation], *, has_floats: bool, has_free_shapes: bool
) -> tuple[str, ...]:
    """Return what helps, the most useful first; may be nothing.

    Parameters
    ----------
    model : OnnxModel
        The model.
    violations : sequence of Violation
        What is wrong with it.
    has_floats : bool
        Something is not quantized.
    has_free_shapes : bool
        Sizes of an input are not known.
    """
    found = []
    unknown = {item.name for item in violations if item.operator is not None} - OPERATORS.keys()
    # Operators of other forms: QLinearConv, ConvInteger, DynamicQuantizeLinear.
    other = {name for name in unknown if "QLinear" in name or "Integer" in name}
    other |= unknown & {"DynamicQuantizeLinear"}
    if other or not is_quantized(model):
        lines = "".join(f"\n      {line}" for line in QUANTIZE)
        found.append(
            "quantize the float model with onnxruntime (reader: a CalibrationDataReader):" + lines
        )
    elif has_floats:
        found.append(
            "the model is quantized, but for some operators: let quantize_static quantize these, "
            "too (op_types_to_quantize), or compute them outside the model"
        )
    if unknown - other:
        found.append(
            f"replace {' and '.join(sorted(unknown - other))} by operators of docs/supported.md, "
            "or compute that part outside the model"
        )
    if has_free_shapes:
        found.append(
            "fix the shape of the inputs: python -m onnxruntime.tools.make_dynamic_shape_fixed "
            "--input_name NAME --input_shape 1,3,224,224 model.onnx fixed.onnx"
        )
    return tuple(found)
