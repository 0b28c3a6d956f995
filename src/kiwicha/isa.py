"""The contract between compiler, gateware, firmware and host: the only place that knows numbers.

Custom instructions, configurations, memory map, status codes, and the layouts of a Program. The C
header of the firmware is generated from this file (`kiwicha.firmware.header`).
"""

import dataclasses
import enum
import zlib
from dataclasses import dataclass

from kiwicha.isa_engine import EngineJob, EngineRun, EngineTransfer, outputs_of
from kiwicha.layout import Ref, Struct, array, f32, i32, ref, u8, u16, u32

__all__ = [
    "ALL_CONFIGS",
    "CONFIGS",
    "ENGINE_CONFIGS",
    "ENGINE_FAMILY",
    "KERNEL_PARAMS",
    "AccumulatorOp",
    "ArgMax",
    "BootBlock",
    "Config",
    "ConfigOp",
    "Conv",
    "Copy",
    "DType",
    "DataOp",
    "Elementwise",
    "EngineRun",
    "Group",
    "IoRecord",
    "Kernel",
    "LayerRecord",
    "Lookup",
    "Mean",
    "Pool",
    "ProgramHeader",
    "Quantize",
    "RequantizeOp",
    "ResizeBilinear",
    "Softmax",
    "Status",
    "StepRecord",
    "Where",
    "engine_config",
    "find_config",
    "function_id",
    "requantizer_lanes_of",
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
    """Ops: `kiwicha.isa_engine.EngineOp`; only with an engine."""


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


# ---------------------------------------------------------------------------------- configurations


@dataclass(frozen=True)
class Config:
    """What the hardware under a Program has.

    Parameters
    ----------
    name : str
        Name on the command line.
    has_simd : bool
        Kernels may use the instruction tier.
    summary : str
        One line for listings.
    engine_macs : int
        int8 products per cycle of the engine; 0 without one.
    scratchpad_bytes : int
        Memory of the engine; 0 without one.
    multipliers : int
        Of the instruction tier, and again of its requantizer: 1, or one per lane.
    requantizer_lanes : int
        Results that the engine requantizes at a time; 0: as many as its array gives at once.
    has_codec : bool
        The engine decodes weights that are stored coded.
    """

    name: str
    has_simd: bool
    summary: str = dataclasses.field(compare=False)
    engine_macs: int = 0
    scratchpad_bytes: int = 0
    multipliers: int = LANES
    requantizer_lanes: int = 0
    has_codec: bool = False

    @property
    def macs_per_cycle(self) -> int:
        """int8 multiply-accumulates that the hardware can do in one cycle."""
        return self.engine_macs or (self.multipliers if self.has_simd else 1)

    @property
    def has_float_interpolation(self) -> bool:
        """Whether the firmware has room for RESIZE_BILINEAR in float32, as some of uint8 is."""
        return not self.has_simd or self.engine_macs != 0

    @property
    def requantizer_cycles(self) -> int:
        """Cycles between results of the engine's array, at least, in units of a job's interval."""
        if not self.requantizer_lanes:
            return 1
        return outputs_of(self.engine_macs) // self.requantizer_lanes

    @property
    def hash(self) -> int:
        """32-bit hash that a Program, the firmware and the gateware must agree on."""
        facts = [ISA_VERSION] + [
            (field.name, getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.compare
        ]
        return zlib.crc32(repr(facts).encode())


CONFIGS = {
    config.name: config
    for config in (
        Config("baseline", has_simd=False, summary="portable C kernels, no custom instruction"),
        Config("simd", has_simd=True, summary="C kernels on the CFU's instruction tier"),
    )
}
ENGINE_MACS = (32, 64, 128)
SCRATCHPAD_BYTES = tuple(kib * 1024 for kib in (8, 16, 32, 48, 56, 64, 96, 128, 256))
DEFAULT_SCRATCHPAD_BYTES = 64 * 1024
TIER_MULTIPLIERS = (1, LANES)
FEW_REQUANTIZER_LANES = 4
"""Instead of one for each output of the engine's array: half of them, except with 32."""


def requantizer_lanes_of(macs: int) -> tuple[int, ...]:
    """Return the `Config.requantizer_lanes` that an engine can have."""
    return (0, FEW_REQUANTIZER_LANES) if outputs_of(macs) > FEW_REQUANTIZER_LANES else (0,)


def engine_config(
    macs: int,
    scratchpad_bytes: int = DEFAULT_SCRATCHPAD_BYTES,
    multipliers: int = 1,
    requantizer_lanes: int = 0,
    *,
    has_codec: bool = True,
) -> Config:
    """Return a configuration with an engine.

    Its name tells what differs from the usual one: ``64-128k-m4-r4-raw`` has 64 products per cycle,
    a scratchpad of 128 KiB, 4 multipliers in the instruction tier, 4 lanes in the engine's
    requantizer, and no codec.

    Parameters
    ----------
    macs : int
        One of `ENGINE_MACS`.
    scratchpad_bytes : int
        One of `SCRATCHPAD_BYTES`.
    multipliers : int
        One of `TIER_MULTIPLIERS`.
    requantizer_lanes : int
        One of `requantizer_lanes_of`.
    has_codec : bool
        Weights can be stored coded.
    """
    name = str(macs)
    if scratchpad_bytes != DEFAULT_SCRATCHPAD_BYTES:
        name += f"-{scratchpad_bytes // 1024}k"
    if multipliers != 1:
        name += f"-m{multipliers}"
    if requantizer_lanes:
        name += f"-r{requantizer_lanes}"
    if not has_codec:
        name += "-raw"
    return Config(
        name,
        has_simd=True,
        summary=f"engine of {macs} products per cycle, and the instruction tier",
        engine_macs=macs,
        scratchpad_bytes=scratchpad_bytes,
        multipliers=multipliers,
        requantizer_lanes=requantizer_lanes,
        has_codec=has_codec,
    )


ENGINE_FAMILY = {
    config.name: config
    for config in (
        engine_config(macs, scratchpad_bytes, multipliers, lanes, has_codec=has_codec)
        for macs in ENGINE_MACS
        for scratchpad_bytes in SCRATCHPAD_BYTES
        for multipliers in TIER_MULTIPLIERS
        for lanes in requantizer_lanes_of(macs)
        for has_codec in (True, False)
    )
}
"""Every combination of what an engine's configuration can choose; ``kiwicha explore`` searches."""
ENGINE_CONFIGS = {str(macs): ENGINE_FAMILY[str(macs)] for macs in ENGINE_MACS}
"""Those usually meant; `CONFIGS` are those whose Programs run on the CPU."""
ALL_CONFIGS = CONFIGS | ENGINE_FAMILY
DEFAULT_CONFIG = "simd"
CLOCK_HZ = 100_000_000
"""Clock of the system: turns cycles into time."""


def find_config(config_hash: int) -> Config | None:
    """Return the configuration with this `Config.hash`, None if there is none."""
    return next((c for c in ALL_CONFIGS.values() if c.hash == config_hash), None)


# -------------------------------------------------------------------------------------- memory map

ONCHIP_BASE = 0x0000_0000
ONCHIP_BYTES = 32 * 1024
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
}

# --------------------------------------------------------------------------------- Program layouts

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

    @property
    def size_bytes(self) -> int:
        """Bytes per element."""
        return 1 if self in {DType.INT8, DType.UINT8} else 4


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
    arena_bytes: int = u32("size of the arena it needs")
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
    reserved: int = u32("0")


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
class Conv(Struct):
    """CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED: int8, one scale per output channel.

    Portable kernels take weights as in TFLite: OHWI, ``[1, H, W, C]`` for depthwise. The order for
    instruction-tier kernels is defined in `kiwicha.packing`; there, bias, multiplier and shift are
    padded to a multiple of four channels. FULLY_CONNECTED has all sizes but batches and channels 1.
    """

    input: Ref = ref("int8 [batches, input_height, input_width, input_channels]")
    weights: Ref = ref("int8")
    bias: Ref = ref("int32 [output_channels]")
    multiplier: Ref = ref("int32 [output_channels], 0 to 2**31 - 1")
    shift: Ref = ref("int32 [output_channels], -31 to 30")
    output: Ref = ref("int8 [batches, output_height, output_width, output_channels]")
    scratch: Ref = ref("working memory of the instruction-tier kernels")
    batches: int = u32("N")
    input_height: int = u32("rows")
    input_width: int = u32("columns")
    input_channels: int = u32("channels")
    output_height: int = u32("rows")
    output_width: int = u32("columns")
    output_channels: int = u32("channels")
    kernel_height: int = u32("rows of the kernel")
    kernel_width: int = u32("columns of the kernel")
    stride_height: int = u32("1 or more")
    stride_width: int = u32("1 or more")
    dilation_height: int = u32("1 or more")
    dilation_width: int = u32("1 or more")
    pad_top: int = u32("rows above the input")
    pad_left: int = u32("columns left of the input")
    depth_multiplier: int = u32("DEPTHWISE_CONV_2D: outputs per input channel; else 1")
    tile_pixels: int = u32(
        "instruction tier: output pixels per pass over the weights, multiple of 4"
    )
    input_offset: int = i32("minus the input's zero point, -127 to 128")
    weight_offset: int = i32("minus the weights' zero point, -127 to 128")
    output_offset: int = i32("the output's zero point")
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


@dataclass(frozen=True)
class Pool(Struct):
    """AVERAGE_POOL_2D and MAX_POOL_2D: int8 NHWC, equal scales."""

    input: Ref = ref("int8 [batches, input_height, input_width, channels]")
    output: Ref = ref("int8 [batches, output_height, output_width, channels]")
    batches: int = u32("N")
    input_height: int = u32("rows")
    input_width: int = u32("columns")
    channels: int = u32("channels")
    output_height: int = u32("rows")
    output_width: int = u32("columns")
    kernel_height: int = u32("rows of the window")
    kernel_width: int = u32("columns of the window")
    stride_height: int = u32("1 or more")
    stride_width: int = u32("1 or more")
    pad_top: int = u32("rows above the input")
    pad_left: int = u32("columns left of the input")
    offset: int = i32(
        "AVERAGE_POOL: added before and taken away after a division that rounds halves away from "
        "zero: 0, or 128 to round halves up; MAX_POOL: 0"
    )
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


@dataclass(frozen=True)
class Elementwise(Struct):
    """ADD, SUB, MUL, MINIMUM, MAXIMUM and PRELU of two int8 tensors, with broadcast.

    ADD and SUB: each input is ``(x + offset) << left_shift``, times its scale; the sum or
    difference times the output's scale. MUL: the product of ``x + offset``, times the output's
    scale. MINIMUM and MAXIMUM: the smaller or larger byte, all offsets being 0. PRELU: where
    ``x + offset_1`` is 0 or more, this times the scale of input 1; else the product as in MUL.
    """

    input_1: Ref = ref("int8")
    input_2: Ref = ref("int8")
    output: Ref = ref("int8")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "output shape, leading dimensions 1")
    strides_1: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_1 is broadcast")
    strides_2: tuple[int, ...] = array("u32", MAX_RANK, "elements; 0 where input_2 is broadcast")
    offset_1: int = i32("minus the zero point of input_1")
    offset_2: int = i32("minus the zero point of input_2")
    output_offset: int = i32("zero point of the output")
    left_shift: int = u32("ADD and SUB: headroom bits; MUL: 0")
    multiplier_1: int = i32("of input_1")
    shift_1: int = i32("of input_1")
    multiplier_2: int = i32("of input_2")
    shift_2: int = i32("of input_2")
    output_multiplier: int = i32("of the result")
    output_shift: int = i32("of the result")
    activation_min: int = i32("smallest output")
    activation_max: int = i32("largest output")


@dataclass(frozen=True)
class Mean(Struct):
    """MEAN and SUM over any axes: the sum of ``x + input_offset``, times a scale.

    The scale of a MEAN holds 1 / count. REDUCE_MAX: the largest byte; offsets and scale are unused.
    """

    input: Ref = ref("int8")
    output: Ref = ref("int8")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "input shape, leading dimensions 1")
    is_reduced: tuple[int, ...] = array("u8", 8, "1 for each reduced dimension; the last two are 0")
    input_offset: int = i32("minus the input's zero point")
    output_offset: int = i32("the output's zero point")
    multiplier: int = i32("of the sum")
    shift: int = i32("of the sum")


@dataclass(frozen=True)
class Softmax(Struct):
    """SOFTMAX over the last dimension: int8 in, out bytes with scale 1/256."""

    input: Ref = ref("int8 [rows, depth]")
    output: Ref = ref("[rows, depth]: int8 with zero point -128, or uint8 with zero point 0")
    exponentials: Ref = ref("int32 [256], Q0.31: exp(-beta * scale * d), 0 where TFLite drops it")
    rows: int = u32("product of the other dimensions")
    depth: int = u32("size of the last dimension")
    output_offset: int = i32("zero point of the output, -128 or 0")


@dataclass(frozen=True)
class Copy(Struct):
    """Strided copy of runs of bytes: whatever only moves data, or repeats it.

    Run [i, j, ...] goes from ``input_start + i * input_strides[0] + ...`` of the input to
    ``i * output_strides[0] + ...`` of the output. Both references hold exactly the bytes from the
    first to the last one that are touched.
    """

    input: Ref = ref("any type")
    output: Ref = ref("the same type")
    shape: tuple[int, ...] = array("u32", MAX_RANK, "number of runs; the last one varies fastest")
    input_strides: tuple[int, ...] = array("i32", MAX_RANK, "bytes; 0 repeats, < 0 reverses")
    output_strides: tuple[int, ...] = array("u32", MAX_RANK, "bytes")
    input_start: int = u32("byte of the first run: what strides of less than 0 go back")
    run_bytes: int = u32("size of a run, 1 or more")


@dataclass(frozen=True)
class Lookup(Struct):
    """Operators with one input, and requantization: every byte is looked up in a table.

    With entries of 4 bytes it is DEQUANTIZE.
    """

    input: Ref = ref("int8")
    output: Ref = ref("as many entries as the input has bytes; of int8, may be the input")
    table: Ref = ref("int8 or float32 [256], constant, by the input byte taken as unsigned")


@dataclass(frozen=True)
class Quantize(Struct):
    """QUANTIZE of float32: -128 plus the number of thresholds that are at most the input."""

    input: Ref = ref("float32")
    output: Ref = ref("int8, as many")
    thresholds: Ref = ref("int32 [255], constant: `kiwicha.floats.thresholds`")


@dataclass(frozen=True)
class ArgMax(Struct):
    """ARG_MAX: the position of the first largest byte along one dimension."""

    input: Ref = ref("int8 [outer, depth, inner]")
    output: Ref = ref("int32 [outer, inner]")
    outer: int = u32("product of the dimensions in front")
    depth: int = u32("size of the dimension")
    inner: int = u32("product of the dimensions behind")


@dataclass(frozen=True)
class Custom(Struct):
    """An operator of `kiwicha.custom`; tensors are bytes, as the operator defines them."""

    operator_hash: int = u32("CustomOperator.hash")
    input_count: int = u32("1 to MAX_CUSTOM_INPUTS; the other inputs have no bytes")
    input_1: Ref = ref("first input")
    input_2: Ref = ref("second input")
    input_3: Ref = ref("third input")
    input_4: Ref = ref("fourth input")
    parameters: Ref = ref("what the operator's parameters function gave; may have no bytes")
    output: Ref = ref("the output")


@dataclass(frozen=True)
class ResizeBilinear(Struct):
    """RESIZE_BILINEAR: each output lies between two rows and two columns.

    A row or column of the tables: first and second pixel of the input, and their weights. These are
    in 1/1024, -1024 to 2048; half goes up above 0, down elsewhere. With ``is_float`` they are
    float32 numbers, and so are all products and sums; half goes up
    (`Config.has_float_interpolation` says where). Such a weight is ``m << 6 | e``
    for ``m * 2**(-23 - e)``; ``m`` has 24 bits or is 0, and no product has bits behind the 52nd
    binary place.
    """

    input: Ref = ref("int8 [batches, input_height, input_width, channels]")
    output: Ref = ref("int8 [batches, output_height, output_width, channels]")
    rows: Ref = ref("int32 [output_height, 4], constant")
    columns: Ref = ref("int32 [output_width, 4], constant")
    batches: int = u32("N")
    input_height: int = u32("rows")
    input_width: int = u32("columns")
    channels: int = u32("channels")
    output_height: int = u32("rows")
    output_width: int = u32("columns")
    offset: int = i32("0 to 128, added to all values before they are weighted")
    is_float: int = u32("0 or 1")


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
    COPY = 13
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
    ENGINE = 64

    @property
    def where(self) -> Where:
        """What executes the kernel."""
        if self is Kernel.ENGINE:
            return Where.ENGINE
        return Where.SIMD if self >= Kernel.SIMD_CONV_1X1 else Where.CPU


KERNEL_PARAMS: dict[Kernel, type[Struct]] = {
    Kernel.CONV: Conv,
    Kernel.DEPTHWISE_CONV: Conv,
    Kernel.FULLY_CONNECTED: Conv,
    Kernel.AVERAGE_POOL: Pool,
    Kernel.MAX_POOL: Pool,
    Kernel.ADD: Elementwise,
    Kernel.SUB: Elementwise,
    Kernel.MUL: Elementwise,
    Kernel.MEAN: Mean,
    Kernel.SOFTMAX: Softmax,
    Kernel.COPY: Copy,
    Kernel.RESIZE_BILINEAR: ResizeBilinear,
    Kernel.TRANSPOSE_CONV: Conv,
    Kernel.LOOKUP: Lookup,
    Kernel.QUANTIZE: Quantize,
    Kernel.MINIMUM: Elementwise,
    Kernel.MAXIMUM: Elementwise,
    Kernel.PRELU: Elementwise,
    Kernel.REDUCE_MAX: Mean,
    Kernel.ARG_MAX: ArgMax,
    Kernel.CUSTOM: Custom,
    Kernel.SIMD_CONV_1X1: Conv,
    Kernel.SIMD_CONV: Conv,
    Kernel.SIMD_DEPTHWISE_CONV: Conv,
    Kernel.SIMD_FULLY_CONNECTED: Conv,
    Kernel.SIMD_ADD: Elementwise,
    Kernel.SIMD_MAX_POOL: Pool,
    Kernel.ENGINE: EngineRun,
}

# --------------------------------------------------------------------------- host to firmware

BOOT_MAGIC = int.from_bytes(b"BOOT", "little")


@dataclass(frozen=True)
class BootBlock(Struct):
    """A job for the firmware, at BOOT_BLOCK_ADDRESS; it fills in the fields from `status` on.

    Inputs lie one after the other, each at the next multiple of 16, and are copied into the arena
    before every inference, outside the counted cycles. Outputs stay in the arena.

    The table of cycles has an entry for each step: its cycles. After that of an ENGINE step come
    the values of `EngineCounter`, then the cycles, from the start of the list, in which its jobs
    ended.
    """

    magic: int = u32("BOOT_MAGIC")
    program_address: int = u32("multiple of 16")
    program_bytes: int = u32("bytes that belong to the Program")
    arena_address: int = u32("multiple of 16")
    arena_bytes: int = u32("bytes that belong to the arena")
    inputs_address: int = u32("multiple of 16")
    inputs_bytes: int = u32("bytes that belong to the inputs")
    inferences: int = u32("how many in a row, 1 or more")
    cycles_address: int = u32("u32 [inferences, entries], written by firmware")
    cycles_bytes: int = u32("bytes that belong to that table")
    status: int = u32("Status")
    failed_step: int = u32("index of the step that failed, if one did")
    finished: int = u32("inferences finished")
    progress: int = u32("steps finished in all inferences, for progress bars")
    total_cycles: int = u32("cycles of the last inference: of all its steps")
    first_cycles: int = u32("cycles of the first inference")
    engine_status: int = u32("EngineError * 65536 + job number, if the status is ENGINE")


STRUCTS: tuple[type[Struct], ...] = (
    ProgramHeader,
    StepRecord,
    LayerRecord,
    IoRecord,
    *dict.fromkeys(KERNEL_PARAMS.values()),
    EngineJob,
    EngineTransfer,
    BootBlock,
)
for _struct in STRUCTS:
    _struct.layout()
