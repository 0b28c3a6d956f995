"""MAX_POOL_2D with custom instructions: channels in fours."""

from kiwicha.contract.program import Kernel, Pool
from kiwicha.kernels.kernel import Call, Cost, Declaration
from kiwicha.kernels.pool import max_pool, work
from kiwicha.kernels.weight_order import WORD_BYTES

__all__ = ["KERNELS"]


def _condition(call: Call) -> bool:
    p: Pool = call.params
    return p.channels % WORD_BYTES == 0


KERNELS = (
    Declaration(
        kernel=Kernel.SIMD_MAX_POOL,
        params=Pool,
        reference=max_pool,
        cost=Cost(step=788.0, output=10.2, unit=3.16, extra=0.0),
        work=work,
        replaces=(Kernel.MAX_POOL,),
        condition=_condition,
    ),
)
