"""ENGINE and COMPUTED_LIST: they start a list of the engine, and are no kernels of the CPU."""

from kiwicha.contract.engine import ComputedListCall, EngineCall
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Declaration

__all__ = ["KERNELS"]

KERNELS = (
    Declaration(kernel=Kernel.ENGINE, params=EngineCall),
    Declaration(kernel=Kernel.COMPUTED_LIST, params=ComputedListCall, is_on_demand=True),
)
