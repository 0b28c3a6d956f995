"""Programs whose steps contradict themselves or their tensors, and the status of each."""

import dataclasses
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kiwicha.contract.cfu import Status
from kiwicha.contract.layout import Ref
from kiwicha.contract.program import Kernel
from kiwicha.kernels.conv import Conv
from kiwicha.kernels.registry import KERNEL_PARAMS, KERNELS
from kiwicha.program.image import Program
from tests.support.programs.every_kernel import FIRMWARE_KERNELS, every_kernel
from tests.support.programs.images import SHORT_KERNELS

__all__ = ["BrokenProgram", "broken_programs", "cut_programs", "parameter_changes"]


@dataclass(frozen=True)
class BrokenProgram:
    """A Program of one bad step.

    Parameters
    ----------
    name : str
        What is bad: kernel, field, number.
    program : Program
        The Program.
    status : Status
        That of its refusal.
    other : Status
        Another one that is as good.
    """

    name: str
    program: Program
    status: Status
    other: Status


_BYTE_VALUES = (
    *(("input_offset", -128), ("input_offset", 129), ("output_offset", 128)),
    *(("activation_min", 128), ("activation_max", -129)),
)
_SHORT_VALUES = (
    *(("input_offset", 1), ("weight_offset", 1), ("output_offset", 1)),
    *(("activation_min", 2**15), ("activation_max", 2**15), ("activation_max", -(2**15) - 1)),
)
"""Of kernels of int16: no offsets."""


_SCALE = {"multiplier": (-1,), "shift": (31, -32)}
_OFFSETS = {"input_offset": (-128, 129), "output_offset": (-129, 128)}
_OPERANDS = {"offset_1": (-128, 129), "offset_2": (-128, 129), "output_shift": (31,)}
_PRODUCT = {
    **_SCALE,
    **_OFFSETS,
    **{"other_offset": (-128, 129), "activation_min": (-129,), "activation_max": (128, -129)},
    "batches": ((0, 1, 1), (1, 1, 0)),
}
_SIZE_1 = (2, 0, 0, 1, 1, 0, 0, 0)
"""A dimension of one element is neither kept nor left out."""
_GATES = {
    "multiplier": ((-1, 1, 1, 1), (1, 1, 1, -1)),
    "shift": ((31, 0, 0, 0), (0, 0, 0, 31)),
}
_LSTM = {
    **_GATES,
    **{"batch_rows": (2,), "step_rows": (4,), "bias": (Ref(0, 4, True),)},
    **{"hidden_multiplier": (-1,), "hidden_shift": (31, -32), "cell_exponent": (-16, 1)},
    **{"cell_min": (-(2**15) - 1, 2**15), "cell_max": (2**15, -(2**15))},
}
_VALUES: dict[Kernel, dict[str, tuple[Any, ...]]] = {
    Kernel.ADD: {**_OPERANDS, "multiplier_1": (-1,), "shift_2": (31,)},
    Kernel.MUL: _OPERANDS,
    Kernel.MEAN: {**_SCALE, **_OFFSETS, "is_reduced": (_SIZE_1,)},
    Kernel.REDUCE_MAX: {"is_reduced": (_SIZE_1,)},
    Kernel.SHORT_MEAN: {**_SCALE, "is_reduced": ((2, 0, 0, 0, 0, 1, 0, 0),)},
    Kernel.REQUANTIZE: {**_SCALE, "input_bytes": (0, 3), "output_bytes": (0, 3)},
    Kernel.CUMULATIVE_SUM: {**_SCALE, **_OFFSETS, "is_exclusive": (2,), "is_reverse": (2,)},
    Kernel.TOP_POSITIONS: {"count": (0, 2), "dtype": (99,)},
    Kernel.DETECTION: {
        **{"threshold": (-129, 129), "classes": (0, 2**32 - 1), "first": (2**32 - 1,)},
        **{"most": (0,), "box_bytes": (3,), "columns": (4,)},
    },
    Kernel.LSTM_GATES: _GATES,
    Kernel.SIMD_LSTM_GATES: _GATES,
    Kernel.LSTM: {**_LSTM, "hidden_offset": (-129, 128)},
    Kernel.SIMD_LSTM: {**_LSTM, "hidden_offset": (-129, 128)},
    Kernel.SHORT_LSTM: {**_LSTM, "hidden_offset": (1,), "shift": ((30, 0, 0, 0), (0, 0, 0, 30))},
    Kernel.SVDF: {
        **{"state_multiplier": (-1,), "state_shift": (31,), "output_multiplier": (-1,)},
        **{"output_shift": (31,), "output_offset": (-129, 128)},
    },
    Kernel.ARG_MAX_OF_PARTS: {"words": (0, 3), "flip": (1, -2), "parts": (0,)},
    Kernel.SHORT_LEAKY_RELU: {**_SCALE, "leak_shift": (31, -32), "leak_sign": (2,)},
    Kernel.SHORT_LINE: {
        **{"first": (-(2**15) - 1, 30000), "last": (2**15, -(2**15)), "factor": (-1,)},
        **{"shift": (32,), "offset": (2**31 - 1, -(2**31))},
    },
    Kernel.SHORT_TANH: {"shift": (32, 2**31), "multiplier": (2**31,)},
    Kernel.MATRIX_PRODUCT: _PRODUCT,
    Kernel.SIMD_MATRIX_PRODUCT: _PRODUCT,
    Kernel.SELECT: {"element_bytes": (0, 3)},
    Kernel.CAST: {"input_dtype": (99,), "output_dtype": (99,)},
    Kernel.INTEGERS: {"operation": (99,), "dtype": (99,)},
    Kernel.PAIRS: {"output_bytes": (0, 3)},
    Kernel.GATHER: {"index_words": (0, 3), "sizes": ((3, 1, 2, 1, 1, 1),)},
    Kernel.SCATTER: {"index_words": (0, 3), "zero": (1,), "dtype": (99,)},
    Kernel.SIGNAL_TAPER: {"shift": (64,)},
    Kernel.SIGNAL_SUBTRACTION: {"noise_bits": (32,), "fraction_bits": (64,), "is_clamped": (2,)},
    Kernel.SOFTMAX_OF_SHORTS: _SCALE,
    Kernel.FULLY_CONNECTED: {"pad_top": (1,), "kernel_height": (2,), "activation_min": (-129,)},
    Kernel.SIMD_DEPTHWISE_CONV: {"weight_offset": (128,)},
    Kernel.CONV: {"activation_min": (-129,), "multiplier": (Ref(0, 16),)},
}
"""Of fields, values that are just outside of what the kernels take."""


def parameter_changes() -> list[tuple[Kernel, str, Any, Status]]:
    """List bad values of parameters: kernel, field, what becomes of the field, status."""
    bounds, parameters = Status.BAD_BOUNDS, Status.BAD_PARAMETERS
    convs = [kernel for kernel in FIRMWARE_KERNELS if KERNEL_PARAMS[kernel] is Conv]
    of_bytes = set(convs) - SHORT_KERNELS
    rows: list[tuple[Kernel, str, Any, Status]] = []
    for kernel in FIRMWARE_KERNELS:
        for name, kind, _ in KERNEL_PARAMS[kernel].layout():
            if kind.base != "ref" or name in {"scratch", *KERNELS[kernel].optional}:
                continue
            rows += [
                (kernel, name, lambda ref: dataclasses.replace(ref, offset=2**31 - 2**20), bounds),
                (kernel, name, lambda ref: dataclasses.replace(ref, bytes=0), parameters),
                (kernel, name, lambda ref: dataclasses.replace(ref, bytes=2**32 - 1), parameters),
            ]
            if name == "output":
                rows.append((kernel, name, lambda ref: Ref(ref.offset, ref.bytes, True), bounds))
    for kernel in convs:
        for name in ("batches", "kernel_width", "stride_height", "dilation_width"):
            rows += [(kernel, name, lambda _: 0, parameters)]
        for name in ("input_height", "output_width", "input_channels", "output_channels"):
            rows += [(kernel, name, lambda _: 0, parameters)]
            rows += [(kernel, name, lambda _: 2**31, parameters)]
        values = _BYTE_VALUES if kernel in of_bytes else _SHORT_VALUES
        for name, value in (("pad_top", 2**31), ("depth_multiplier", 0), *values):
            rows += [(kernel, name, lambda _, value=value: value, parameters)]
        for name in ("bias", "multiplier", "shift"):
            rows += [
                (kernel, name, lambda ref: Ref(ref.offset + 2, ref.bytes, True), bounds),
            ]
    for kernel in (Kernel.SIMD_CONV, Kernel.SIMD_CONV_1X1, Kernel.SIMD_FULLY_CONNECTED):
        for value in (0, 2, 6):
            rows.append((kernel, "tile_pixels", lambda _, value=value: value, parameters))
    rows += [
        (Kernel.SIMD_CONV, "tile_pixels", lambda _: 68, parameters),
        (Kernel.SIMD_CONV, "scratch", lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
        (Kernel.SIMD_CONV, "scratch", lambda ref: Ref(ref.offset + 2, ref.bytes), bounds),
        (Kernel.SIMD_CONV, "scratch", lambda ref: Ref(16, ref.bytes, True), bounds),
        (Kernel.SIMD_CONV, "input", lambda ref: Ref(ref.offset + 1, ref.bytes), bounds),
        (Kernel.SIMD_CONV, "shift", lambda ref: Ref(0, ref.bytes), parameters),
        (Kernel.SIMD_CONV_1X1, "stride_width", lambda _: 2, parameters),
        (Kernel.SIMD_CONV_1X1, "pad_left", lambda _: 1, parameters),
        (Kernel.FULLY_CONNECTED, "input_width", lambda _: 2, parameters),
        (Kernel.MAX_POOL, "pad_top", lambda _: 2, parameters),
        (Kernel.AVERAGE_POOL, "stride_width", lambda _: 5, parameters),
        (Kernel.AVERAGE_POOL, "kernel_height", lambda _: 0, parameters),
        (Kernel.SIMD_MAX_POOL, "channels", lambda _: 3, parameters),
        (Kernel.LOOKUP, "table", lambda ref: Ref(0, ref.bytes), parameters),
        (Kernel.LOOKUP, "table", lambda ref: Ref(0, 512, True), parameters),
        (Kernel.QUANTIZE, "input", lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
        (Kernel.RESIZE_BILINEAR, "input_height", lambda _: 2, parameters),
        (Kernel.RESIZE_BILINEAR, "channels", lambda _: 2**30, parameters),
        (Kernel.RESIZE_BILINEAR, "rows", lambda ref: Ref(0, ref.bytes), parameters),
        (Kernel.RESIZE_BILINEAR, "columns", lambda ref: Ref(0, ref.bytes, True), parameters),
        (Kernel.ARG_MAX, "outer", lambda _: 0, parameters),
        (Kernel.ARG_MAX, "depth", lambda _: 2**31, parameters),
        (Kernel.ARG_MAX, "inner", lambda _: 2**30, parameters),
        (Kernel.ADD, "left_shift", lambda _: 23, parameters),
        (Kernel.ADD, "shape", lambda _: (1, 1, 1, 0, 3, 4), parameters),
        (Kernel.ADD, "strides_1", lambda _: (0, 0, 0, 2**31, 4, 1), parameters),
        (Kernel.MUL, "output_shift", lambda _: 31, parameters),
        (Kernel.SIMD_ADD, "strides_2", lambda _: (0, 0, 0, 4, 12, 1), parameters),
        (Kernel.MEAN, "is_reduced", lambda _: (0, 0, 0, 2, 1, 0, 0, 0), parameters),
        (Kernel.MEAN, "multiplier", lambda _: -1, parameters),
        (Kernel.COPY, "shape", lambda _: (1, 1, 1, 1, 0, 1), parameters),
        (Kernel.COPY, "shape", lambda _: (2**31, 2**31, 2**31, 2**31, 1, 1), parameters),
        (Kernel.COPY, "shape", lambda _: (1, 1, 1, 1, 1, 2), parameters),
        (Kernel.COPY, "piece_bytes", lambda _: 0, parameters),
        (Kernel.COPY, "piece_bytes", lambda _: 2**32 - 1, parameters),
        (Kernel.COPY, "input_start", lambda _: 1, parameters),
        (Kernel.COPY, "input", lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
        (Kernel.SOFTMAX, "depth", lambda _: 4096, parameters),
        (Kernel.SOFTMAX, "pairs", lambda _: Ref(0, 511, True), parameters),
        (Kernel.RESIZE_BILINEAR, "scratch", lambda r: Ref(r.offset, r.bytes - 1), parameters),
        (Kernel.L2_NORMALIZATION, "input_offset", lambda _: 129, parameters),
        (Kernel.L2_NORMALIZATION, "input_offset", lambda _: -128, parameters),
        (Kernel.L2_NORMALIZATION, "depth", lambda _: 2**15, parameters),
        (Kernel.L2_NORMALIZATION, "early_bits", lambda _: 1, parameters),
        (Kernel.ARG_MAX, "words", lambda _: 3, parameters),
        (Kernel.ARG_MAX, "flip", lambda _: 1, parameters),
        (Kernel.RESIZE_BILINEAR, "blend", lambda _: 3, parameters),
        (Kernel.RESIZE_BILINEAR, "scratch", lambda ref: Ref(ref.offset, 4), parameters),
        (Kernel.SOFTMAX, "exponentials", lambda r: Ref(r.offset + 4, 1020, True), parameters),
        (Kernel.LOG_SOFTMAX, "depth", lambda _: 4096, parameters),
        (Kernel.LOG_SOFTMAX, "output_offset", lambda _: -128, parameters),
        (Kernel.LOG_SOFTMAX, "exponentials", lambda r: Ref(r.offset + 4, 1024, True), parameters),
        (Kernel.LOG_SOFTMAX, "distances", lambda r: Ref(r.offset, 1020, True), parameters),
        (Kernel.LOG_SOFTMAX, "distances", lambda _: Ref(0, 1024), parameters),
        (Kernel.COPY, "output", lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
        *_short_changes(),
    ]
    # Several fields at once, so that no other check refuses them.
    rows += [
        (
            Kernel.GATHER,
            "",
            lambda p: {"depth": 7, "indices": Ref(0, 28 * p.count * p.batches)},
            parameters,
        ),
        (
            Kernel.SIMD_CONV,
            "",
            lambda p: {"tile_pixels": 6, "scratch": Ref(0, 2 * p.scratch.bytes)},
            parameters,
        ),
        (
            Kernel.SIMD_CONV_1X1,
            "",
            lambda p: {"kernel_height": 2, "weights": Ref(0, 2 * p.weights.bytes, True)},
            parameters,
        ),
    ]
    rows += [
        (kernel, name, lambda _, value=value: value, parameters)
        for kernel, names in _VALUES.items()
        for name, values in names.items()
        for value in values
    ]
    return rows


def _short_changes() -> list[tuple[Kernel, str, Any, Status]]:
    """List bad values of parameters of other kernels of int16."""
    bounds, parameters = Status.BAD_BOUNDS, Status.BAD_PARAMETERS
    rows: list[tuple[Kernel, str, Any, Status]] = []
    pairs = (Kernel.SHORT_ADD, Kernel.SHORT_SUB, Kernel.SHORT_MUL)
    for kernel in sorted(SHORT_KERNELS):
        source = "input_1" if kernel in pairs else "input"
        rows += [
            (kernel, source, lambda ref: Ref(ref.offset, ref.bytes - 1), parameters),
            (kernel, "output", lambda ref: Ref(ref.offset + 1, ref.bytes), bounds),
        ]
    for kernel in pairs:
        rows += [
            (kernel, "input_2", lambda ref: Ref(ref.offset + 1, ref.bytes), bounds),
            (kernel, "left_shift", lambda _: 16, parameters),
            *((kernel, name, lambda _: 1, parameters) for name in ("offset_1", "output_offset")),
            (kernel, "activation_max", lambda _: 2**15, parameters),
        ]
    for kernel in (Kernel.SHORT_AVERAGE_POOL, Kernel.SHORT_MAX_POOL):
        rows += [
            (kernel, "offset", lambda _: 1, parameters),
            (kernel, "activation_min", lambda _: -(2**15) - 1, parameters),
        ]
    return [
        *rows,
        (Kernel.SHORT_MEAN, "input_offset", lambda _: 1, parameters),
        (Kernel.SHORT_MEAN, "is_reduced", lambda _: (0, 0, 0, 2, 1, 0, 0, 0), parameters),
        (Kernel.SHORT_TANH, "multiplier", lambda _: 2**15, parameters),
        (Kernel.SHORT_LOGISTIC, "shift", lambda _: 32, parameters),
        (Kernel.SHORT_LOGISTIC, "points", lambda ref: Ref(ref.offset, 512, True), parameters),
        (Kernel.SHORT_LEAKY_RELU, "leak_sign", lambda _: 0, parameters),
        (Kernel.SHORT_LEAKY_RELU, "activation_max", lambda _: -1, parameters),
        (Kernel.SHORT_LEAKY_RELU, "leak_multiplier", lambda _: -1, parameters),
        *(
            (kernel, "scale", lambda _, bits=bits: bits, parameters)
            for kernel in (Kernel.SHORT_QUANTIZE, Kernel.SHORT_DEQUANTIZE)
            for bits in (0, 0x7F80_0000, 0x8000_0001)
        ),
        (Kernel.SHORT_QUANTIZE, "output_offset", lambda _: 2**15, parameters),
        (Kernel.SHORT_DEQUANTIZE, "input_offset", lambda _: -(2**15), parameters),
        (Kernel.SOFTMAX_OF_SHORTS, "depth", lambda _: 4096, parameters),
        (Kernel.SOFTMAX_OF_SHORTS, "reciprocals", lambda ref: Ref(0, 1024, True), parameters),
        # Sums of 64 bits.
        (Kernel.SHORT_CONV, "shift", lambda ref: Ref(ref.offset, ref.bytes - 4, True), parameters),
        (Kernel.SHORT_CONV, "bias", lambda ref: Ref(ref.offset + 4, ref.bytes, True), bounds),
    ]


def broken_programs() -> Iterator[BrokenProgram]:
    """Give a Program for each row of `parameter_changes`, and those of `cut_programs`."""
    program = every_kernel().program()
    first = {step.kernel: step for step in reversed(program.steps)}
    for number, (kernel, field, change, status) in enumerate(parameter_changes()):
        step = first[kernel]
        fields = change(step.params) if not field else {field: change(getattr(step.params, field))}
        params: Any = dataclasses.replace(step.params, **fields)
        changed = dataclasses.replace(program, steps=(dataclasses.replace(step, params=params),))
        # A range that is both too long and outside is refused for either.
        is_either = field in {"input", "output"}
        either = {
            Status.BAD_BOUNDS: Status.BAD_PARAMETERS,
            Status.BAD_PARAMETERS: Status.BAD_BOUNDS,
        }
        other = either[status] if is_either else status
        yield BrokenProgram(f"{kernel.name}-{field}-{number}", changed, status, other)
    yield from cut_programs(program)
    yield from _with_other_constants(program)


_CONSTANTS: tuple[tuple[Kernel, str, int, int], ...] = (
    *((Kernel.SOFTMAX, "exponentials", 0, 2**31 - 2), (Kernel.SOFTMAX, "exponentials", 7, -1)),
    *(
        (Kernel.SOFTMAX, "exponentials", 255, 2**31 - 1),
        (Kernel.LOG_SOFTMAX, "exponentials", 9, -1),
    ),
    *((Kernel.CONV, "multiplier", 3, -1), (Kernel.CONV, "shift", 0, 31)),
    *((Kernel.SIMD_DEPTHWISE_CONV, "shift", 3, -32), (Kernel.SIMD_CONV, "multiplier", 0, -1)),
)
"""Words of constants that a kernel does not take."""


def _with_other_constants(program: Program) -> Iterator[BrokenProgram]:
    """Give a Program for each row of `_CONSTANTS`."""
    first = {step.kernel: step for step in reversed(program.steps)}
    for kernel, field, number, value in _CONSTANTS:
        step = first[kernel]
        at = getattr(step.params, field).offset + 4 * number
        word = struct.pack("<I", value & 0xFFFF_FFFF)
        constants = program.constants[:at] + word + program.constants[at + 4 :]
        changed = dataclasses.replace(program, constants=constants, steps=(step,))
        status = Status.BAD_PARAMETERS
        yield BrokenProgram(f"{kernel.name}-{field}-word {number}", changed, status, status)


def cut_programs(program: Program) -> Iterator[BrokenProgram]:
    """Give each step alone, with each of its references one byte outside of what it is in."""
    for number, step in enumerate(program.steps):
        for name, kind, _ in type(step.params).layout():
            ref = getattr(step.params, name)
            if kind.base != "ref" or not ref.bytes:
                continue
            # Stored constants are padded to the next multiple of 16: cut before that.
            cut: dict[str, Any] = (
                {"constants": program.constants[: ref.offset + (ref.bytes - 1) // 16 * 16]}
                if ref.is_constant
                else {"arena_bytes": ref.offset + ref.bytes - 1}
            )
            changed = dataclasses.replace(program, inputs=(), outputs=(), steps=(step,), **cut)
            status = Status.BAD_BOUNDS
            yield BrokenProgram(f"{step.kernel.name}-{name}-step {number}", changed, status, status)
