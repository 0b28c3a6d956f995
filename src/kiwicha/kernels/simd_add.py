"""ADD with custom instructions, without broadcast."""

from kiwicha.contract.program import Kernel
from kiwicha.kernels.elementwise import Elementwise, is_plain
from kiwicha.kernels.kernel import Call, Cost, Declaration

__all__ = ["KERNELS"]


def _condition(call: Call) -> bool:
    return is_plain(call.params)


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_ADD,
        params=Elementwise,
        is_in_place=True,
        cost=Cost(step=411.0, output=75.6, unit=1.52, extra=0.0),
        replaces=(Kernel.ADD,),
        condition=_condition,
    ),
)
