"""Inputs that chain pairs share, each as late as its lane wants it."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data

from kiwicha.gateware.engine.array.interfaces import LANES

__all__ = ["shared_inputs"]


def shared_inputs(
    m: Module, x: data.View, outputs: int, is_deep: Signal | None
) -> list[list[Value]]:
    """Return for each chain pair its input of each lane, that of lane l delayed by l cycles.

    Parameters
    ----------
    m : Module
        Where the registers are.
    x : View
        Inputs of an operation.
    outputs : int
        Chain pairs.
    is_deep : Signal or None
        Pairs from `LANES` on have the inputs from `LANES` on, else the same as the others; None:
        there are no such pairs.
    """
    lower = [x[lane] for lane in range(LANES)]
    shared = _skewed(m, lower, "shared")
    if is_deep is None:
        return outputs * [shared]
    upper = [Mux(is_deep, x[LANES + lane], value).as_signed() for lane, value in enumerate(lower)]
    return LANES * [shared] + LANES * [_skewed(m, upper, "upper_shared")]


def _skewed(m: Module, lanes: list[Value], name: str) -> list[Value]:
    """Return the lanes, lane l delayed by l cycles."""
    skewed = []
    for lane, value in enumerate(lanes):
        delayed: Value = value
        for stage in range(1, lane + 1):
            following = Signal(value.shape(), name=f"{name}_{lane}_s{stage}", reset_less=True)
            m.d.sync += following.eq(delayed)
            delayed = following
        skewed.append(delayed)
    return skewed
