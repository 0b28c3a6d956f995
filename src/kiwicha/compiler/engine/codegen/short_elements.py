"""From an operation of int16 number by number to a job: the fields of its descriptor."""

from typing import Any

from kiwicha.compiler.engine.ir.plan import JobGeometry
from kiwicha.compiler.engine.ir.short_elements import (
    ShortElementOperation,
    ShortMaxPooling,
    ShortOperation,
)
from kiwicha.contract.engine import MAX_U8, JobKind
from kiwicha.contract.short_elements import (
    ELEMENT_LANES,
    SHORT_BYTES,
    EngineShortElements,
    ShortForm,
    ShortOperator,
)
from kiwicha.numerics.short_elements import ElementScales

__all__ = ["engine_short_elements"]

_ADDRESSES = 1 << 32


def engine_short_elements(
    operation: ShortOperation, layer: int, geometry: JobGeometry
) -> EngineShortElements:
    """Return a job that waits for nothing.

    Parameters
    ----------
    operation : ShortOperation
        What it computes.
    layer : int
        Number of its layer, counted from that of the step.
    geometry : JobGeometry
        Rows and addresses.
    """
    fields: dict[str, Any] = {name: 0 for name, _, _ in EngineShortElements.layout()}
    scales = ElementScales()
    operator = ShortOperator.MAX
    if isinstance(operation, ShortElementOperation):
        scales, operator = operation.scales, operation.operator
    is_whole = operation.form is ShortForm.WHOLE
    plane = operation.output_channels // SHORT_BYTES
    fields |= {
        "kind": JobKind.SHORT_ELEMENTS,
        "interval": 1,
        "flags": operation.flags,
        "groups": 1,
        "layer": min(layer, MAX_U8),
        "operator": operator,
        "form": operation.form,
        "kernel_rows": 1,
        "kernel_columns": 1,
        "upper_step": 0 if is_whole else plane,
        "output_lower_step": 0 if is_whole else -plane % _ADDRESSES,
        "multiplier_1": scales.first[0],
        "shift_1": scales.first[1],
        "multiplier_2": scales.second[0],
        "shift_2": scales.second[1],
        "output_multiplier": scales.output[0],
        "output_shift": scales.output[1],
        "activation_min": operation.clamp[0],
        "activation_max": operation.clamp[1],
    }
    if operation.is_flat:
        fields |= _flat(operation, geometry)
    else:
        fields |= _by_pixel(operation, geometry)
    if not is_whole:
        fields["output_address"] += plane
    return EngineShortElements(**fields)


def _flat(operation: ShortOperation, geometry: JobGeometry) -> dict[str, int]:
    """Return the fields of a way over all bytes, as they come."""
    window, pitch = operation.window, geometry.input_pitch
    rows_skipped = geometry.first_output_row - geometry.first_input_row
    skipped = rows_skipped * window.input_columns * pitch
    first, *others = (address + skipped for address in geometry.input_addresses)
    size = geometry.output_rows * window.output_columns * pitch
    beat = SHORT_BYTES * ELEMENT_LANES
    return {
        "first_address": first,
        "second_address": others[0] if others else 0,
        "output_address": geometry.output_address,
        "column_step": beat,
        "second_column_step": beat,
        "output_column_step": beat,
        "rows": 1,
        "columns": -(-size // beat),
        "blocks": 1,
    }


def _by_pixel(operation: ShortOperation, geometry: JobGeometry) -> dict[str, int]:
    """Return the fields of a way over pixels, block by block of their channels."""
    window, pitch = operation.window, geometry.input_pitch
    columns = geometry.columns or range(window.output_columns)
    part_first = geometry.part.first if geometry.part else 0
    row_bytes = geometry.part.row_bytes if geometry.part else window.input_columns * pitch
    first_row = geometry.first_output_row * window.stride_rows - window.pad_top
    first_row -= geometry.first_input_row
    first_column = columns.start // columns.step * window.stride_columns - window.pad_left
    skipped = first_row * row_bytes + (first_column - part_first) * pitch
    first, *others = geometry.input_addresses
    column_step = window.stride_columns * pitch
    output_step = columns.step * geometry.output_pitch
    last = len(columns) - 1
    has_one_pixel = isinstance(operation, ShortElementOperation) and operation.has_one_pixel
    second = others[0] + (0 if has_one_pixel else skipped) if others else 0
    row_step = (window.stride_rows * row_bytes - last * column_step) % _ADDRESSES
    fields = {
        "first_address": first + skipped,
        "second_address": second,
        "output_address": geometry.output_address + columns.start * geometry.output_pitch,
        "row_step": row_step,
        "second_row_step": 0 if has_one_pixel else row_step,
        "output_row_step": (geometry.output_row_bytes - last * output_step) % _ADDRESSES,
        "column_step": column_step,
        "second_column_step": 0 if has_one_pixel else column_step,
        "output_column_step": output_step,
        "rows": geometry.output_rows,
        "columns": len(columns),
        "blocks": operation.output_channels // (SHORT_BYTES * ELEMENT_LANES),
    }
    if isinstance(operation, ShortMaxPooling):
        last = window.kernel_columns - 1
        fields |= {
            "kernel_rows": window.kernel_rows,
            "kernel_columns": window.kernel_columns,
            "kernel_column_step": pitch,
            "kernel_row_step": (row_bytes - last * pitch) % _ADDRESSES,
        }
    return fields
