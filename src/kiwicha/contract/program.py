"""What the compiler writes and the firmware reads: the layouts of a Program and of the boot block.

The numbers of the hardware that they refer to are those of `kiwicha.contract.cfu`.
"""

import enum
from dataclasses import dataclass

from kiwicha.contract.engine import EngineJob, EngineTransfer
from kiwicha.contract.layout import Ref, Struct, array, f32, i32, ref, u8, u16, u32
from kiwicha.contract.moves import EngineMove
from kiwicha.contract.recurrences import EngineRecurrence

__all__ = [
    "BootBlock",
    "DType",
    "IoRecord",
    "Kernel",
    "LayerRecord",
    "ProgramHeader",
    "StateRecord",
    "StepRecord",
    "Where",
]

PROGRAM_MAGIC = int.from_bytes(b"KIWI", "little")
PROGRAM_VERSION = 1
MAX_RANK = 6
MAX_CUSTOM_INPUTS = 4
"""Inputs that a custom operator may have."""


class DType(enum.IntEnum):
    """Element type of a tensor."""

    INT8 = 1
    INT32 = 2
    FLOAT32 = 3
    UINT8 = 4
    INT64 = 5
    INT16 = 6
    BOOL = 7
    UINT32 = 8
    """Not of inputs and outputs of a model."""

    @property
    def size_bytes(self) -> int:
        """Bytes per element."""
        return _SIZES_BYTES.get(self, 4)


_SIZES_BYTES = {DType.INT8: 1, DType.UINT8: 1, DType.BOOL: 1, DType.INT16: 2, DType.INT64: 8}
"""Of types that do not have 4."""


class Where(enum.IntEnum):
    """What executes a layer."""

    NONE = 0
    """No step: the layer is address arithmetic."""
    CPU = 1
    """Portable C."""
    SIMD = 2
    """C with custom instructions."""
    ENGINE = 3
    """The engine, from its own list of jobs."""
    SIGNAL = 4
    """C with instructions of the unit for frames of sound."""

    @property
    def text(self) -> str:
        """Name in reports."""
        return self.name.lower()


@dataclass(frozen=True)
class ProgramHeader(Struct):
    """First bytes of a Program. Offsets count from the Program's first byte, multiples of 16."""

    magic: int = u32("PROGRAM_MAGIC")
    version: int = u32("PROGRAM_VERSION")
    config_hash: int = u32("Config.hash")
    checksum: tuple[int, int] = array("u32", 2, "of every byte after this field")
    total_bytes: int = u32("size of the Program, a multiple of 4")
    arena_bytes: int = u32("size of the arena it needs, of which an inference uses all but shift")
    step_count: int = u32("number of StepRecords")
    steps_offset: int = u32("where they are")
    layer_count: int = u32("number of LayerRecords")
    layers_offset: int = u32("where they are")
    input_count: int = u32("number of input IoRecords")
    inputs_offset: int = u32("where they are")
    output_count: int = u32("number of output IoRecords")
    outputs_offset: int = u32("where they are")
    names_offset: int = u32("zero-terminated UTF-8 names, one after the other")
    names_bytes: int = u32("size of the names; the last byte is zero")
    constants_offset: int = u32("first byte of parameters, weights and tables")
    constants_bytes: int = u32("their size")
    shift_bytes: int = u32("from one place of inputs and outputs to the other; 0 if there is one")
    state_count: int = u32("number of StateRecords; if there are any, only such places move")
    states_offset: int = u32("where they are")


@dataclass(frozen=True)
class StepRecord(Struct):
    """One kernel call."""

    kernel: int = u16("Kernel")
    layer: int = u16("index of the LayerRecord it belongs to")
    params_offset: int = u32("the kernel's parameter structure, inside the constants")
    params_bytes: int = u32("its size")
    reserved: int = u32("0")


@dataclass(frozen=True)
class LayerRecord(Struct):
    """One operator of the model, for reports."""

    index: int = u32("operator index in the model")
    name_offset: int = u32("TFLite operator name, into the names")
    macs_low: int = u32("multiply-accumulates of one inference, low word")
    macs_high: int = u32("high word")
    where: int = u8("Where")
    rank: int = u8("rank of the first output")
    reserved: int = u16("0")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "first output; unused dimensions are 0")


@dataclass(frozen=True)
class IoRecord(Struct):
    """One input or output tensor of the model."""

    tensor: Ref = ref("where it is, in the arena")
    name_offset: int = u32("into the names")
    dtype: int = u8("DType")
    rank: int = u8("number of dimensions")
    reserved: int = u16("0")
    scale: float = f32("real = scale * (value - zero_point); 0 if not quantized")
    zero_point: int = i32("see scale")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "unused dimensions are 0")


@dataclass(frozen=True)
class StateRecord(Struct):
    """A tensor that keeps its bytes from one inference to the next.

    With states all inferences use the same bytes of the arena. Inputs and outputs then have their
    two places, if they have, before what an inference uses: `kiwicha_start` copies inputs to two
    shifts behind the first one, and when an inference has ended its outputs are copied from there.
    """

    tensor: Ref = ref("where it is, in the arena")
    first: Ref = ref("constant that it is at first; of one byte: all bytes are as that one")
    name_offset: int = u32("into the names")
    reserved: int = u32("0")


class Kernel(enum.IntEnum):
    """Kernels that a step can name."""

    CONV = 1
    DEPTHWISE_CONV = 2
    FULLY_CONNECTED = 3
    AVERAGE_POOL = 4
    MAX_POOL = 5
    ADD = 6
    SUB = 7
    MUL = 8
    MEAN = 9
    SOFTMAX = 11
    SHORT_SOFTMAX = 12
    COPY = 13
    REDUCE_MIN = 14
    SQUARED_DIFFERENCE = 15
    L2_NORMALIZATION = 16
    LOG_SOFTMAX = 17
    LSTM_GATES = 18
    LSTM = 19
    SVDF = 20
    REQUANTIZE = 21
    RESIZE_BILINEAR = 22
    TRANSPOSE_CONV = 23
    LOOKUP = 24
    QUANTIZE = 25
    MINIMUM = 26
    MAXIMUM = 27
    PRELU = 28
    REDUCE_MAX = 29
    ARG_MAX = 30
    CUSTOM = 31
    SIMD_CONV_1X1 = 32
    SIMD_CONV = 33
    SIMD_DEPTHWISE_CONV = 34
    SIMD_FULLY_CONNECTED = 35
    SIMD_ADD = 36
    SIMD_MAX_POOL = 37
    SIMD_LSTM_GATES = 38
    SIMD_LSTM = 39
    SIMD_MATRIX_PRODUCT = 40
    ENGINE = 64
    INTEGERS = 65
    SELECT = 66
    CAST = 67
    GATHER = 68
    SCATTER = 69
    TOP_POSITIONS = 70
    CUMULATIVE_SUM = 71
    DETECTION = 72
    SHORT_CONV = 73
    SHORT_DEPTHWISE_CONV = 74
    SHORT_TRANSPOSE_CONV = 75
    SHORT_ADD = 76
    SHORT_SUB = 77
    SHORT_MUL = 78
    SHORT_AVERAGE_POOL = 79
    SHORT_MAX_POOL = 80
    SHORT_MEAN = 81
    SHORT_LOGISTIC = 82
    SHORT_TANH = 83
    SHORT_LEAKY_RELU = 84
    SOFTMAX_OF_SHORTS = 85
    SIGNAL_TAPER = 86
    SIGNAL_SCALE_BITS = 87
    SIGNAL_SCALE = 88
    SIGNAL_RFFT = 89
    SIGNAL_IRFFT = 90
    SIGNAL_ENERGY = 91
    SIGNAL_FILTER_BANK = 92
    SIGNAL_SQUARE_ROOT = 93
    SIGNAL_SUBTRACTION = 94
    SIGNAL_PCAN = 95
    SIGNAL_LOG = 96
    MATRIX_PRODUCT = 97
    PAIRS = 98
    COMPUTED_LIST = 99
    SHORT_QUANTIZE = 100
    SHORT_DEQUANTIZE = 101
    ARG_MAX_OF_PARTS = 102
    SHORT_LINE = 103
    UNIT_CHANNELS = 104
    SIGNAL_FRAMES = 105
    SIGNAL_OVERLAP_ADD = 106
    SHORT_LSTM = 107

    @property
    def where(self) -> Where:
        """What executes the kernel. Numbers behind that of the engine are of the CPU again."""
        if self in {Kernel.ENGINE, Kernel.COMPUTED_LIST}:
            return Where.ENGINE
        if self is Kernel.UNIT_CHANNELS:
            return Where.SIGNAL
        return Where.SIMD if Kernel.SIMD_CONV_1X1 <= self < Kernel.ENGINE else Where.CPU


# --------------------------------------------------------------------------- host to firmware

BOOT_MAGIC = int.from_bytes(b"BOOT", "little")


@dataclass(frozen=True)
class BootBlock(Struct):
    """A run for the firmware, at BOOT_BLOCK_ADDRESS; it fills in the fields from `status` on.

    Inputs lie one after the other, each at the next multiple of 16, and are copied into the arena
    before every inference, outside the counted cycles. Outputs stay in the arena. There can be
    several sets of inputs, which inferences take in turn, each with the states that the one before
    has left; the outputs of all inferences are then stored one after the other. Without sets every
    inference begins with the same inputs and states. A simulation that has `prepared` a run starts
    with its first inference.

    The table of cycles has an entry for each step: its cycles. After that of an ENGINE step come
    the values of `EngineCounter`, then the cycles, from the start of the list, in which its jobs
    ended.

    Sets for a Program with two places for inputs and outputs, for an engine, are a stream: inputs
    of each inference are copied during the one before, and its outputs during the one behind it.
    The table of cycles then says when each inference had ended.
    """

    magic: int = u32("BOOT_MAGIC")
    program_address: int = u32("multiple of 16")
    program_bytes: int = u32("bytes that belong to the Program")
    arena_address: int = u32("multiple of 16")
    arena_bytes: int = u32("bytes that belong to the arena")
    inputs_address: int = u32("multiple of 16")
    inputs_bytes: int = u32("bytes that belong to the inputs")
    inferences: int = u32("how many in a row, 1 or more")
    cycles_address: int = u32("u32 [inferences, entries], of a stream [inferences]; by firmware")
    cycles_bytes: int = u32("bytes that belong to that table")
    status: int = u32("Status")
    failed_step: int = u32("index of the step that failed, if one did")
    finished: int = u32("inferences finished")
    progress: int = u32("steps finished in all inferences, for progress bars")
    total_cycles: int = u32("cycles of the last inference: of all its steps")
    first_cycles: int = u32("cycles of the first inference")
    engine_status: int = u32("EngineError * 65536 + job number, if the status is ENGINE")
    input_sets: int = u32("sets of inputs; 0: one, and outputs are not stored")
    outputs_address: int = u32("multiple of 16: outputs of each inference, if there are sets")
    outputs_bytes: int = u32("bytes that belong to them")
    prepared: int = u32("1: Program checked, first inputs in the arena; ignored on boards")


STRUCTS: tuple[type[Struct], ...] = (
    ProgramHeader,
    StepRecord,
    LayerRecord,
    IoRecord,
    StateRecord,
    EngineJob,
    EngineMove,
    EngineRecurrence,
    EngineTransfer,
    BootBlock,
)
for _struct in STRUCTS:
    _struct.layout()
