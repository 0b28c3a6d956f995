"""ENGINE: starts a list of the engine, which is not a kernel of the CPU."""

from kiwicha.contract.engine import EngineCall
from kiwicha.contract.program import Kernel
from kiwicha.kernels.kernel import Declaration

__all__ = ["KERNELS"]

KERNELS = (Declaration(kernel=Kernel.ENGINE, params=EngineCall),)
