"""The contract between compiler, gateware, firmware and host: the only place that knows numbers.

Custom instructions, memory map and status codes. Beside it stand `configs` (configurations),
`engine` (jobs of the engine), `program` (Programs) and `serial` (the serial port), all in
`kiwicha.contract`.
The C header of the firmware is generated from them (`kiwicha.firmware.header`).
"""

import enum
from dataclasses import dataclass

__all__ = [
    "INSTRUCTIONS",
    "AccumulatorOp",
    "ConfigOp",
    "DataOp",
    "Group",
    "Instruction",
    "RequantizeOp",
    "Status",
    "function_id",
]

ISA_VERSION = 1

# ---------------------------------------------------------------------------- custom instructions
#
# A custom instruction is R-type on opcode CUSTOM_0; function_id = funct7 * 8 + funct3. funct3 is
# the group, funct7 = op * 16 + index inside the group. Every instruction answers; effects are those
# of executing the instructions one after the other.

OPCODE_CUSTOM_0 = 0x0B
LANES = 4
"""Output channels accumulated side by side, and int8 products per multiply-accumulate."""
PIXELS = 4
"""Output pixels accumulated side by side; accumulators = PIXELS x LANES."""
RESULT_FIFO_DEPTH = 4
"""Words that may be pushed and not yet popped; one more `RequantizeOp.PUSH` is refused."""
UNKNOWN_RESPONSE = 0xBAD0_0000
"""Answer to a function id that is not listed: this value + the function id."""


class Group(enum.IntEnum):
    """funct3 of a custom instruction. Values not listed answer `UNKNOWN_RESPONSE`."""

    CONFIG = 0
    MAC = 1
    """Dot product: ``acc[pixel][lane] += sum((a[k] + input_offset) * b[k])``, a and b the four int8
    of inputs_0 and inputs_1, byte 0 least significant; funct7 = pixel * 4 + lane. Answers 0."""
    MAC_LANES = 2
    """Depthwise: ``acc[pixel][k] += (a[k] + input_offset) * b[k]`` for k = 0..3; funct7 = pixel.
    Answers 0."""
    ACCUMULATOR = 3
    REQUANTIZE = 4
    DATA = 5
    ENGINE = 6
    """Ops: `kiwicha.contract.engine.EngineOp`; only with an engine."""
    SIGNAL = 7
    """Ops: `kiwicha.contract.signal.SignalOp`; only with a unit for frames of sound."""


class ConfigOp(enum.IntEnum):
    """Ops of `Group.CONFIG`; the index is 0."""

    ISA_VERSION = 0
    """Answers `ISA_VERSION`."""
    CONFIG_HASH = 1
    """Answers the 32-bit hash of the configuration the gateware was built for."""
    CYCLES = 2
    """Answers a free-running 32-bit cycle counter."""
    INPUT_OFFSET = 3
    """inputs_0: minus the activations' zero point, -127 to 128 (9 bits, signed). Answers 0."""
    OUTPUT = 4
    """inputs_0: output zero point, int8. inputs_1: clamp minimum (byte 0) and maximum (byte 1),
    int8. Used by every requantization that starts later. Answers 0."""


class AccumulatorOp(enum.IntEnum):
    """Ops of `Group.ACCUMULATOR`. Accumulators are int32 and wrap."""

    BIAS = 0
    """index: lane. inputs_0: the lane's bias, int32. Answers 0."""
    START = 1
    """Every accumulator takes its lane's bias. Answers 0."""
    READ = 2
    """index: pixel * 4 + lane. Answers the accumulator."""
    WRITE = 3
    """index: pixel * 4 + lane. The accumulator takes inputs_0. Answers 0."""


class RequantizeOp(enum.IntEnum):
    """Ops of `Group.REQUANTIZE`: ``multiply_by_quantized_multiplier``, zero point, clamp."""

    SCALE = 0
    """index: lane. inputs_0: multiplier, 0 to 2**31 - 1. inputs_1: shift, -31 to 30. Answers 0."""
    PUSH = 1
    """index: pixel. The pixel's four accumulators, each with its lane's scale, become four int8 in
    one word of the result FIFO. Answers 0, without waiting for the word. With `RESULT_FIFO_DEPTH`
    words pushed and not popped it does nothing and answers `UNKNOWN_RESPONSE` + the function id."""
    POP = 2
    """Answers the oldest word of the result FIFO, waiting for it if it is under way; 0 at once if
    there is none."""
    VALUE = 3
    """index: lane. inputs_0: an int32 accumulator. Answers the requantized int8, sign-extended."""
    RESCALE = 4
    """index: lane. inputs_0: an int32. Answers it times the lane's scale; nothing is clamped."""


class DataOp(enum.IntEnum):
    """Ops of `Group.DATA`, on bytes of words."""

    ALIGN = 0
    """index: n, 0 to 3. Answers ``({inputs_1, inputs_0} >> 8 n)[31:0]``: an unaligned word."""
    EXTRACT = 1
    """index: n, 0 to 3. Answers byte n of inputs_0, sign-extended."""
    PACK = 2
    """Answers ``inputs_0 >> 8`` with byte 0 of inputs_1 on top: four of them pack a word."""
    MAX = 3
    """Answers the four int8 maxima of inputs_0 and inputs_1, lane by lane."""


@dataclass(frozen=True)
class Instruction:
    """A custom instruction: its group, its op, and how many indexes it has, from 0."""

    group: Group
    op: int
    indexes: int


_INDEXES = {
    "MAC": PIXELS * LANES,
    "MAC_LANES": PIXELS,
    "BIAS": LANES,
    "READ": PIXELS * LANES,
    "WRITE": PIXELS * LANES,
    "SCALE": LANES,
    "PUSH": PIXELS,
    "VALUE": LANES,
    "RESCALE": LANES,
    "ALIGN": 4,
    "EXTRACT": 4,
}
"""Of the instructions that have more than one."""
_OPS: dict[Group, type[enum.IntEnum]] = {
    Group.CONFIG: ConfigOp,
    Group.ACCUMULATOR: AccumulatorOp,
    Group.REQUANTIZE: RequantizeOp,
    Group.DATA: DataOp,
}


def _ops_of(group: Group) -> list[tuple[str, int]]:
    """Return names and numbers; a group of one instruction is named like it."""
    return [(op.name, op.value) for op in _OPS[group]] if group in _OPS else [(group.name, 0)]


INSTRUCTIONS: dict[str, Instruction] = {
    name.lower(): Instruction(group, op, _INDEXES.get(name, 1))
    for group in Group
    if group not in {Group.ENGINE, Group.SIGNAL}
    for name, op in _ops_of(group)
}
"""Every instruction of the tier, by its name in lower case."""


def function_id(group: Group, op: int = 0, index: int = 0) -> int:
    """Return the 10-bit function id of a custom instruction.

    Parameters
    ----------
    group : Group
        The group; in `Group.MAC` and `Group.MAC_LANES` there is one op, 0.
    op : int
        Op inside the group, 0 to 7.
    index : int
        Lane, pixel, accumulator or byte number, 0 to 15.

    Raises
    ------
    ValueError
        If op or index is out of range.
    """
    if not 0 <= op <= 7 or not 0 <= index <= 15:
        raise ValueError(f"op and index must be 0 to 7 and 0 to 15, not {op} and {index}")
    return (op * 16 + index) * 8 + int(group)


# -------------------------------------------------------------------------------------- memory map

CLOCK_HZ = 100_000_000
"""Clock of the system: turns cycles into time."""
ONCHIP_BASE = 0x0000_0000
ONCHIP_BYTES = 44 * 1024
"""Firmware text, data and stack."""
STACK_BYTES = 2 * 1024
DRAM_BASE = 0x4000_0000
DRAM_BYTES = 256 * 1024 * 1024
BOOT_BLOCK_ADDRESS = DRAM_BASE
"""Where firmware looks for a `BootBlock` after reset."""
IMAGE_ADDRESS = DRAM_BASE + 0x1000
"""First byte that the host may use for a Program, its arena, inputs and results."""
ALIGNMENT_BYTES = 16
"""Alignment of every tensor, constant and arena."""
CACHE_LINE_BYTES = 32
DATA_CACHE_BYTES = 4096

# ------------------------------------------------------------------------------------ status codes


class Status(enum.IntEnum):
    """What a firmware entry returns; also the exit code of a simulated system."""

    OK = 0
    BAD_MAGIC = 1
    BAD_VERSION = 2
    BAD_CONFIG = 3
    BAD_CHECKSUM = 4
    BAD_BOUNDS = 5
    BAD_KERNEL = 6
    BAD_PARAMETERS = 7
    ARENA_TOO_SMALL = 8
    BAD_BOOT_BLOCK = 9
    BAD_ARGUMENT = 10
    CFU_MISMATCH = 11
    TRAP = 12
    ENGINE = 13
    BUSY = 14
    BAD_VALUE = 15


STATUS_TEXT = {
    Status.OK: "no error",
    Status.BAD_MAGIC: "the bytes are not a Program; compile the model again",
    Status.BAD_VERSION: "the Program has another format version; compile the model again",
    Status.BAD_CONFIG: "the Program is for another configuration; compile the model for this one",
    Status.BAD_CHECKSUM: "the Program's bytes have changed since it was compiled; load it again",
    Status.BAD_BOUNDS: "a step points outside the arena or the Program; compile the model again",
    Status.BAD_KERNEL: "the firmware lacks a kernel of this Program; rebuild both from one version",
    Status.BAD_PARAMETERS: "a step's shapes contradict its tensors; compile the model again",
    Status.ARENA_TOO_SMALL: "the arena is smaller than the Program needs; give it more memory",
    Status.BAD_BOOT_BLOCK: "the boot block is missing or malformed; load it again",
    Status.BAD_ARGUMENT: "a pointer or size passed to the runtime is null or misaligned",
    Status.CFU_MISMATCH: "the gateware was built for another configuration; build both from one",
    Status.ENGINE: "the engine refused or gave up its list; compile the model again",
    Status.TRAP: "the CPU trapped: a firmware bug; run with --trace and report it",
    Status.BUSY: "another model's inference has begun; poll or wait for it until it has ended",
    Status.BAD_VALUE: "an index is outside its tensor, or a divisor is 0; check the inputs",
}
