"""CUSTOM: an operator of an installed package, whose reference is part of it."""

from dataclasses import dataclass

from kiwicha.contract.layout import Ref, Struct, ref, u32
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Work

__all__ = ["KERNELS", "Custom"]


@dataclass(frozen=True)
class Custom(Struct):
    """An operator of `kiwicha.custom`; tensors are bytes, as the operator defines them."""

    operator_hash: int = u32("CustomOperator.hash")
    input_count: int = u32("1 to MAX_CUSTOM_INPUTS; the other inputs have no bytes")
    input_1: Ref = ref("first input")
    input_2: Ref = ref("second input")
    input_3: Ref = ref("third input")
    input_4: Ref = ref("fourth input")
    parameters: Ref = ref("what the operator's parameters function gave; may have no bytes")
    output: Ref = ref("the output")


def _work(p: Custom) -> Work:
    return Work(p.output.bytes)


KERNELS = (
    Declaration(
        kernel=Kernel.CUSTOM,
        params=Custom,
        optional=("input_2", "input_3", "input_4", "parameters"),
        # Assumed: nobody knows what an operator does.
        cost=Cost(step=3000.0, output=0.0),
        work=_work,
    ),
)
