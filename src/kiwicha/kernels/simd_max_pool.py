"""MAX_POOL_2D with custom instructions: channels in fours."""

from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Call, Cost, Declaration
from kiwicha.kernels.pool import Pool
from kiwicha.kernels.weight_order import WORD_BYTES

__all__ = ["KERNELS"]


def _condition(call: Call) -> bool:
    p: Pool = call.params
    return p.channels % WORD_BYTES == 0


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_MAX_POOL,
        params=Pool,
        cost=Cost(step=788.0, output=10.2, unit=3.16, extra=0.0),
        replaces=(Kernel.MAX_POOL,),
        condition=_condition,
    ),
)
