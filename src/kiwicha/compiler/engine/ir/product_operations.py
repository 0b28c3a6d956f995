"""Products of computed matrices: convolutions whose weights another list has brought to memory."""

from dataclasses import dataclass

from kiwicha.compiler.engine.ir.operations import DividedOperation
from kiwicha.compiler.engine.ir.window_operations import Convolution

__all__ = ["ComputedConvolution", "ComputedProductOperation", "ProductOperation"]


@dataclass(frozen=True, eq=False, kw_only=True)
class ComputedConvolution(Convolution):
    """A 1x1 convolution with computed weights; `weights` are zeros, and say how many there are.

    Parameters
    ----------
    matrix : int
        Number of the matrix that it multiplies by, among those of its layer.
    """

    matrix: int


@dataclass(frozen=True, eq=False, kw_only=True)
class ProductOperation(DividedOperation):
    """Products of the rows of each batch with a matrix of its own; its pieces are convolutions."""

    @property
    def is_in_parts(self) -> bool:
        """Whether any row takes all of its jobs: one is for the rows of a batch."""
        return False


@dataclass(frozen=True, eq=False, kw_only=True)
class ComputedProductOperation(ProductOperation):
    """Such products with computed matrices: its pieces are `ComputedConvolution`s.

    It is the first operation of its region, whose list lies in the arena.

    Parameters
    ----------
    list_tensor : int
        What that list is called. A move in the region before writes its weight streams.
    """

    list_tensor: int
