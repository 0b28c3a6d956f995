"""The fastest kernel of a configuration for a call."""

import dataclasses

from kiwicha.contract.configs import Config
from kiwicha.kernels.kernel import Call
from kiwicha.kernels.registry import KERNELS, kernels_of

__all__ = ["choose"]


def choose(call: Call, config: Config) -> Call:
    """Return the call of a faster kernel for the same bytes, or the call itself.

    Conditions exclude each other: which kernel is taken depends on no order.
    """
    found = [
        item for item in kernels_of(config) if call.kernel in item.replaces and item.condition(call)
    ]
    if not found:
        return KERNELS[call.kernel].prepare(call)
    assert len(found) == 1, [item.kernel.name for item in found]
    return dataclasses.replace(found[0].prepare(call), kernel=found[0].kernel)
