"""CUSTOM: an operator of an installed package, whose reference is part of it."""

from kiwicha.contract.program import Custom, Kernel
from kiwicha.kernels.kernel import Cost, Declaration, Work

__all__ = ["KERNELS"]


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
