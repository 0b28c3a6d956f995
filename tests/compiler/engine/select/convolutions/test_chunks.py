"""Long sums in chunks: each weight is in one of them, and none has more than a job can."""

import dataclasses

import numpy as np
import pytest

from kiwicha.compiler.engine.codegen.streams import group_words, stream_parameters
from kiwicha.compiler.engine.ir.operations import Piece
from kiwicha.compiler.engine.ir.window import Window, padded
from kiwicha.compiler.engine.ir.window_operations import Convolution
from kiwicha.compiler.engine.select.convolutions.chunks import (
    in_chunks,
    is_long,
    with_parts_of_sums,
)
from kiwicha.contract.engine import GROUP_WORDS, MAX_KEPT_SUMS, MAX_U8, SumFlag
from tests.compiler.engine.build import convolution

WINDOWS = {
    "rows": Window(7, 7, 512, 7, 7, 3, 3, pad_top=1, pad_left=1),
    "columns": Window(9, 12, 1024, 4, 5, 3, 3, 2, 2, 2, 2, pad_top=2, pad_left=2),
    "channels": Window(4, 4, 2052, 3, 3, 2, 2),
    "inputs": Window.of_pixels(1, 1, 25_088),
    "tall": Window(300, 3, 3, 1, 1, 300, 3),
    "wide": Window(3, 600, 1, 1, 10, 3, 300, dilation_columns=2),
    "many pixels": Window(40, 150, 256, 40, 150, 3, 3, pad_top=1, pad_left=1),
}


def long(name: str, outputs: int = 40, **fields: object) -> Convolution:
    return convolution(0, WINDOWS[name], outputs, **fields)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("outputs", [5, 136])
def test_chunks_are_the_kernel(name: str, outputs: int) -> None:
    operation = long(name, outputs)
    assert is_long(operation)
    window = operation.window
    found = np.zeros_like(operation.weights)
    times = np.zeros(operation.weights.shape, np.int8)
    for piece in in_chunks(Piece(range(window.image_rows), operation)):
        part = piece.operation
        assert isinstance(part, Convolution)
        assert not is_long(part)
        assert group_words(part, 64, padded(window.channels)) <= GROUP_WORDS
        assert max(part.window.kernel_rows, part.window.kernel_columns) <= MAX_U8
        # Where the first window meets the image tells which taps they are.
        row, top = divmod(window.pad_top - part.window.pad_top, window.dilation_rows)
        column, left = divmod(window.pad_left - part.window.pad_left, window.dilation_columns)
        assert top == left == 0
        place = tuple(
            slice(first, first + size)
            for first, size in zip(
                (piece.first_output_channel, row, column, piece.first_input_channel),
                part.weights.shape,
                strict=True,
            )
        )
        found[place] = part.weights
        times[place] += 1
    assert (times == 1).all()
    np.testing.assert_array_equal(found, operation.weights)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("rows", [1, 3, 40])
def test_jobs_of_a_series_have_the_same_sums_and_not_too_many(name: str, rows: int) -> None:
    operation = with_parts_of_sums(long(name, 136))
    window = operation.window
    last = None
    covered = np.zeros((window.image_rows, window.output_columns, 136), np.int8)
    rows = min(rows, window.image_rows)
    for piece in operation.within(0, rows):
        columns = piece.columns or range(window.output_columns)
        channels = piece.operation.output_channels
        sums = piece.operation.sums
        assert len(piece.rows) * len(columns) * padded(channels) <= MAX_KEPT_SUMS
        place = piece.rows, piece.columns, piece.first_output_channel, channels
        assert (last == place) == bool(sums & SumFlag.CONTINUE)
        last = place if sums & SumFlag.KEEP else None
        if last is None:
            outputs = slice(piece.first_output_channel, piece.first_output_channel + channels)
            covered[piece.rows.start : piece.rows.stop, columns.start : columns.stop, outputs] += 1
    assert last is None
    assert (covered[:rows] == 1).all()
    assert (covered[rows:] == 0).all()


def test_only_the_last_job_of_a_series_is_wide() -> None:
    pieces = list(in_chunks(Piece(range(7), long("rows", 8, is_wide=True))))
    assert [piece.operation.flags for piece in pieces] == [0, 0, 1]
    assert [piece.operation.sums for piece in pieces] == [
        SumFlag.KEEP,
        SumFlag.KEEP | SumFlag.CONTINUE,
        SumFlag.CONTINUE,
    ]


@pytest.mark.parametrize("name", ["rows", "inputs"])
def test_the_first_bias_of_packed_products_is_that_of_all(name: str) -> None:
    operation = long(name, 16, is_packed=True)
    first = next(iter(in_chunks(Piece(range(7), operation)))).operation
    assert isinstance(first, Convolution)
    whole, part = (stream_parameters(each).bias for each in (operation, first))
    np.testing.assert_array_equal(part, whole)


def test_what_fits_a_group_stays_as_it_is() -> None:
    window = dataclasses.replace(WINDOWS["channels"], channels=512)
    piece = Piece(range(3), convolution(0, window, 40))
    assert list(in_chunks(piece)) == [piece]
