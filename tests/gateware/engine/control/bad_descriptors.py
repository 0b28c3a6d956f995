"""Descriptors that an engine refuses, and with which error."""

from typing import Any

from kiwicha.contract.engine import (
    MAX_SOFTMAX_DEPTH,
    EngineError,
    EngineJob,
    JobFlag,
    JobKind,
    SumFlag,
    TransferFlag,
)
from tests.gateware.engine.control.stand_in_lists import make_job

__all__ = ["LEGAL", "bad_jobs", "bad_transfers", "changed"]

LEGAL = {
    "conv": make_job(kind=JobKind.CONV),
    "depthwise": make_job(kind=JobKind.DEPTHWISE),
    "table": make_job(kind=JobKind.TABLE, group_words=32),
    "products": make_job(kind=JobKind.MUL, flags=JobFlag.CHANNELS, kernel_rows=0),
    "max": make_job(kind=JobKind.MAX, flags=JobFlag.ONES),
    "softmax": make_job(kind=JobKind.SOFTMAX, group_words=32),
}
"""A job of each form."""


def changed(legal: str, /, **fields: Any) -> EngineJob:
    """Return one of `LEGAL` with other values in some fields."""
    values = {name: getattr(LEGAL[legal], name) for name, _, _ in EngineJob.layout()}
    return EngineJob(**(values | fields))


def bad_jobs(scratchpad_bytes: int, transfers: int) -> list[tuple[str, str, int, EngineError]]:
    """Return one of `LEGAL`, a field and its bad value, and the error of each.

    Parameters
    ----------
    scratchpad_bytes : int
        Of an engine with a codec and SOFTMAX, 64 products per cycle and no other option.
    transfers : int
        Of the list.
    """
    return [
        *(("conv", "kind", kind, EngineError.BAD_KIND) for kind in (0, 9, 255)),
        *(
            ("conv", field, 0, EngineError.BAD_FIELD)
            for field in (
                "interval",
                "groups",
                "input_rows",
                "output_rows",
                "output_columns",
                "segment_words",
                "row_words",
                "group_words",
                "stride_rows",
                "dilation_rows",
                "kernel_rows",
                "segments",
            )
        ),
        ("table", "segment_words", 0, EngineError.BAD_FIELD),
        *(
            ("max", field, 0, EngineError.BAD_FIELD)
            for field in ("groups", "output_columns", "segment_words", "kernel_rows", "segments")
        ),
        *(
            ("softmax", field, 0, EngineError.BAD_FIELD)
            for field in ("groups", "output_rows", "segment_words", "group_words", "interval")
        ),
        ("softmax", "segment_words", MAX_SOFTMAX_DEPTH + 1, EngineError.BAD_FIELD),
        ("softmax", "sums", SumFlag.KEEP, EngineError.BAD_FIELD),
        ("softmax", "flags", JobFlag.PACKED, EngineError.BAD_FIELD),
        *((kind, "flags", JobFlag.SQUARE, EngineError.BAD_FIELD) for kind in ("max", "softmax")),
        ("softmax", "output_address", scratchpad_bytes, EngineError.OUTSIDE_SCRATCHPAD),
        ("max", "output_address", scratchpad_bytes, EngineError.OUTSIDE_SCRATCHPAD),
        ("depthwise", "kernel_rows", 0, EngineError.BAD_FIELD),
        ("depthwise", "stride_columns", 0, EngineError.BAD_FIELD),
        ("depthwise", "first_phase", 1, EngineError.BAD_FIELD),
        ("depthwise", "last_beats", 0, EngineError.BAD_FIELD),
        ("depthwise", "last_beats", 3, EngineError.BAD_FIELD),
        ("depthwise", "segments", 5, EngineError.BAD_FIELD),
        ("conv", "interval", 9, EngineError.BAD_FIELD),
        ("conv", "group_words", 257, EngineError.BAD_FIELD),
        ("conv", "wait_transfers", transfers + 1, EngineError.BAD_FIELD),
        ("conv", "flags", 1 << 15, EngineError.BAD_FIELD),
        ("conv", "flags", JobFlag.LOGARITHMS, EngineError.BAD_FIELD),
        ("softmax", "flags", JobFlag.GATHERED, EngineError.BAD_FIELD),
        *(
            (kind, "flags", JobFlag.FUSED, EngineError.BAD_FIELD)
            for kind in ("depthwise", "table", "products", "max", "softmax")
        ),
        ("conv", "output_address", 4, EngineError.BAD_FIELD),
        ("conv", "output_pixel_bytes", 12, EngineError.BAD_FIELD),
        ("conv", "output_row_step", 12, EngineError.BAD_FIELD),
        ("conv", "sums", 4, EngineError.BAD_FIELD),
        ("table", "sums", 4, EngineError.BAD_FIELD),
        *(("conv", "reserved_1", 1 << bit, EngineError.BAD_FIELD) for bit in (0, 7)),
        *(("conv", "resident_word", 1 << bit, EngineError.BAD_FIELD) for bit in (0, 15)),
        *(
            ("conv", f"wait_{name}", 1, EngineError.BAD_FIELD)
            for name in ("rows", "group_step", "row_step")
        ),
        ("max", "gives_positions", 2, EngineError.BAD_FIELD),
        *((kind, "gives_positions", 1, EngineError.BAD_FIELD) for kind in ("conv", "table")),
        ("conv", "weights_offset", 8, EngineError.BAD_FIELD),
        ("conv", "weights_bytes", 17, EngineError.BAD_FIELD),
        ("conv", "weight_zero_point", 256, EngineError.BAD_FIELD),
        ("conv", "weight_zero_point", -257, EngineError.BAD_FIELD),
        ("conv", "output_address", scratchpad_bytes, EngineError.OUTSIDE_SCRATCHPAD),
    ]


def bad_transfers(
    scratchpad_bytes: int, jobs: int
) -> list[tuple[tuple[int, int, int, int, int], EngineError]]:
    """Return the fields of `EngineTransfer`, and the error of each.

    Parameters
    ----------
    scratchpad_bytes : int
        Of the engine.
    jobs : int
        Of the list.
    """
    return [
        ((0, 0, 16, 0, 3), EngineError.BAD_FIELD),
        ((0, 0, 16, 0, 4), EngineError.BAD_FIELD),
        ((0, 0, 18, 0, TransferFlag.FLOAT), EngineError.BAD_FIELD),
        ((4, 4, 16, 0, TransferFlag.FLOAT), EngineError.BAD_FIELD),
        ((0, 0, 1 << 31 | 16, 0, TransferFlag.TABLE), EngineError.BAD_FIELD),
        ((0, 16, 4 * scratchpad_bytes - 60, 0, TransferFlag.FLOAT), EngineError.OUTSIDE_SCRATCHPAD),
        ((8, 0, 16, 0, 0), EngineError.BAD_FIELD),
        ((0, 8, 16, 0, 0), EngineError.BAD_FIELD),
        ((0, 0, 0, 0, 0), EngineError.BAD_FIELD),
        ((0, 0, 1 << 31, 0, 0), EngineError.BAD_FIELD),
        ((0, 0, 16, jobs + 1, 0), EngineError.BAD_FIELD),
        ((0, 16, scratchpad_bytes, 0, 0), EngineError.OUTSIDE_SCRATCHPAD),
        ((0, 0, scratchpad_bytes + 1, 0, 0), EngineError.OUTSIDE_SCRATCHPAD),
        ((0, scratchpad_bytes, 1, 0, 0), EngineError.OUTSIDE_SCRATCHPAD),
        ((1, scratchpad_bytes - 15, 16, 0, 0), EngineError.OUTSIDE_SCRATCHPAD),
        ((3, 2, 16, 0, 0), EngineError.BAD_FIELD),
        ((0, 0xFFFF_FFF0, 16, 0, 0), EngineError.OUTSIDE_SCRATCHPAD),
        ((0, 0xFFFF_FFF0, 0x7FFF_FFFF, 0, 0), EngineError.OUTSIDE_SCRATCHPAD),
    ]
