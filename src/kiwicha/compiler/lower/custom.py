"""Lowering of custom operators."""

import numpy as np

from kiwicha import custom
from kiwicha.compiler.lower.network import Layer
from kiwicha.compiler.tflite.custom_nodes import custom_node
from kiwicha.compiler.tflite.graph import Graph, Operator
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.custom import calls as custom_calls
from kiwicha.kernels.custom import Custom

__all__ = ["lower_custom"]


def lower_custom(graph: Graph, operator: Operator) -> Layer:
    """Return the kernel call of an operator that has no problems."""
    definition = custom.find(operator.name)
    assert definition is not None
    raw = custom_calls.parameters_of(definition, custom_node(graph, operator), operator.index)
    inputs = {f"input_{k + 1}": index for k, index in enumerate(operator.inputs)}
    return Layer(
        operator.index,
        operator.name,
        kernel=Kernel.CUSTOM,
        params=Custom(
            operator_hash=definition.hash,
            input_count=len(inputs),
            input_1=Ref(),
            input_2=Ref(),
            input_3=Ref(),
            input_4=Ref(),
            parameters=Ref(),
            output=Ref(),
        ),
        tensors={**inputs, "output": operator.outputs[0]},
        constants={"parameters": np.frombuffer(raw, np.uint8)} if raw else {},
    )
