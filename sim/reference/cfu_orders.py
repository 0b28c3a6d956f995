"""Short sequences of custom instructions, each in an order that needs its own rule."""

from kiwicha.contract.cfu import AccumulatorOp, ConfigOp, Group, RequantizeOp, function_id

__all__ = ["ORDERS", "SEQUENTIAL_ORDERS", "SET_UP", "Instruction", "Step"]

Instruction = tuple[int, int, int]
"""Function id, inputs_0, inputs_1."""
Step = tuple[Instruction, int]
"""An instruction, and the cycles to its answer at full speed."""


def _word(value: int) -> int:
    return value & 0xFFFF_FFFF


_MAC = (function_id(Group.MAC, index=5), 0x7F80_0102, 0x817F_FF80)
_MAC_LANES = (function_id(Group.MAC_LANES, index=1), 0x7F80_0102, 0x817F_FF80)
_START = (function_id(Group.ACCUMULATOR, AccumulatorOp.START), 0, 0)
_READ = (function_id(Group.ACCUMULATOR, AccumulatorOp.READ, 5), 0, 0)
_WRITE = (function_id(Group.ACCUMULATOR, AccumulatorOp.WRITE, 5), 0x8000_0000, 0)
_PUSH = (function_id(Group.REQUANTIZE, RequantizeOp.PUSH, 1), 0, 0)
_POP = (function_id(Group.REQUANTIZE, RequantizeOp.POP), 0, 0)
_VALUE = (function_id(Group.REQUANTIZE, RequantizeOp.VALUE, 3), 12345, 0)
_RESCALE = (function_id(Group.REQUANTIZE, RequantizeOp.RESCALE, 3), 123456789, 0)
_OFFSET = (function_id(Group.CONFIG, ConfigOp.INPUT_OFFSET), 77, 0)
_OUTPUT = (function_id(Group.CONFIG, ConfigOp.OUTPUT), 9, 0x7F80)
_OTHER_OUTPUT = (function_id(Group.CONFIG, ConfigOp.OUTPUT), _word(-9), 0x10F0)
_BIASES = [
    (function_id(Group.ACCUMULATOR, AccumulatorOp.BIAS, lane), _word(1000 * lane - 1500), 0)
    for lane in range(4)
]
_SCALES = [
    (function_id(Group.REQUANTIZE, RequantizeOp.SCALE, lane), 2**30 + 99 * lane, _word(-4))
    for lane in range(4)
]
_OTHER_SCALES = [
    (function_id(Group.REQUANTIZE, RequantizeOp.SCALE, lane), 2**30 + 7, _word(lane))
    for lane in range(4)
]
SET_UP = [*_BIASES, *_SCALES, _OUTPUT, _OFFSET, _START]
"""What gives everything that is read below a value; answered in one cycle each."""

ORDERS: dict[str, list[Step]] = {
    "mac": [(_MAC, 1)] * 20 + [(_READ, 4)],
    "mac-lanes": [(_MAC_LANES, 1)] * 20 + [(_READ, 4)],
    "write": [(_WRITE, 1), (_MAC, 1), (_READ, 4), (_START, 1), (_READ, 4)],
    "start": [(_START, 1), (_BIASES[0], 1), (_MAC, 1), (_START, 1), (_READ, 4)],
    "offset": [(_OFFSET, 1), (_MAC, 1), (SET_UP[-2], 1), (_MAC, 1), (_READ, 4)],
    "pop-of-nothing": [(_POP, 1), (_POP, 1)],
    "value": [(_VALUE, 7), (_RESCALE, 7), (_OUTPUT, 1), (_VALUE, 7)],
    "scales": [(scale, 1) for scale in _SCALES] * 3,
    "push-pop": [(_PUSH, 1), (_POP, 13)],
    "pushes": [(_PUSH, 1), (_PUSH, 4), (_PUSH, 4), (_PUSH, 4), (_POP, 1)],
    "push-every-4th": [(_PUSH, 1), *[(_MAC, 1)] * 3, (_PUSH, 1), (_START, 1)],
    "pop-when-it-is-there": [(_PUSH, 1), *[(_MAC, 1)] * 12, (_POP, 1)],
    "push-start": [(_PUSH, 1), (_START, 1), (_POP, 12)],
    "mac-push": [(_MAC_LANES, 1), (_PUSH, 1), (_MAC_LANES, 1), (_POP, 12)],
    "push-scale": [(_PUSH, 1), (_OTHER_SCALES[3], 7), (_POP, 6)],
    "push-scale-0": [(_PUSH, 1), (_OTHER_SCALES[0], 7), (_POP, 6)],
    "push-output": [(_PUSH, 1), (_OTHER_OUTPUT, 13), (_POP, 1)],
    "push-value": [(_PUSH, 1), (_VALUE, 13), (_POP, 1)],
    "push-rescale": [(_PUSH, 1), (_RESCALE, 13), (_POP, 1)],
    "fifth-push-is-refused": [
        *[(_PUSH, 1), (_PUSH, 4), (_PUSH, 4), (_PUSH, 4), (_PUSH, 1)],
        *[(_POP, 1), (_POP, 3), (_POP, 4), (_POP, 4), (_POP, 1)],
    ],
}
"""By name: what follows `SET_UP`, with a multiplier per lane."""

SEQUENTIAL_ORDERS: dict[str, list[tuple[Instruction, int, int]]] = {
    "mac": [(_MAC, 1, 4)] * 5 + [(_READ, 4, 4)],
    "mac-lanes": [(_MAC_LANES, 1, 4), (_WRITE, 1, 1), (_READ, 4, 4)],
    "value": [(_VALUE, 15, 15), (_RESCALE, 15, 15), (_OUTPUT, 1, 1)],
}
"""The same with one multiplier: cycles to the answer, and to the next instruction."""
