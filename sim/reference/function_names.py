"""Names of the custom function unit's functions, for waveforms and recordings."""

from kiwicha.contract import cfu
from kiwicha.contract.cfu import Group
from kiwicha.contract.engine import EngineOp
from kiwicha.contract.signal import SignalOp

__all__ = ["function_names"]

_OPS = {
    Group.CONFIG: cfu.ConfigOp,
    Group.ACCUMULATOR: cfu.AccumulatorOp,
    Group.REQUANTIZE: cfu.RequantizeOp,
    Group.DATA: cfu.DataOp,
    Group.ENGINE: EngineOp,
    Group.SIGNAL: SignalOp,
}
_INDICES = 16


def function_names() -> dict[int, str]:
    """Return a name for each function id of the contract."""
    names = {}
    for index in range(_INDICES):
        pixel, lane = divmod(index, cfu.LANES)
        names[cfu.function_id(Group.MAC, 0, index)] = f"MAC pixel {pixel} lane {lane}"
        names[cfu.function_id(Group.MAC_LANES, 0, index)] = f"MAC_LANES pixel {index}"
        for group, ops in _OPS.items():
            for op in ops:
                names[cfu.function_id(group, int(op), index)] = f"{group.name} {op.name} {index}"
    return names
