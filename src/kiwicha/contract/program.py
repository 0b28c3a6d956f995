"""What the compiler writes and the firmware reads: the layouts of a Program and of the boot block.

The numbers of the hardware that they refer to are those of `kiwicha.contract.cfu`.
"""

import enum
from dataclasses import dataclass

from kiwicha.contract.engine import EngineJob, EngineTransfer
from kiwicha.contract.layout import Ref, Struct, array, f32, i32, ref, u8, u16, u32

__all__ = [
    "ArgMax",
    "BootBlock",
    "Conv",
    "Copy",
    "Custom",
    "DType",
    "Elementwise",
    "IoRecord",
    "Kernel",
    "LayerRecord",
    "Lookup",
    "Mean",
    "Pool",
    "ProgramHeader",
    "Quantize",
    "ResizeBilinear",
    "Softmax",
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
    instruction-tier kernels is defined in `kiwicha.kernels.weight_order`; there, bias,
    multiplier and shift are padded to a multiple of four channels. FULLY_CONNECTED has all sizes
    but batches and channels 1.
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
    thresholds: Ref = ref("int32 [255], constant: `kiwicha.numerics.float_edges.thresholds`")


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


# --------------------------------------------------------------------------- host to firmware

BOOT_MAGIC = int.from_bytes(b"BOOT", "little")


@dataclass(frozen=True)
class BootBlock(Struct):
    """A run for the firmware, at BOOT_BLOCK_ADDRESS; it fills in the fields from `status` on.

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
    EngineJob,
    EngineTransfer,
    BootBlock,
)
for _struct in STRUCTS:
    _struct.layout()
