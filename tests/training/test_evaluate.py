"""Confusion counts."""

import numpy as np

from kiwicha.training.evaluate import Confusion


def test_rows_are_truth_and_columns_are_answers() -> None:
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    answers = np.array([0, 0, 1, 1, 1, 1, 0, 0])
    confusion = Confusion.of(labels, answers)
    assert confusion.counts.tolist() == [[2, 1], [2, 3]]
    assert str(confusion) == (
        "5/8 right (62.5%); faces: 3 found, 2 missed; non-faces: 2 rejected, 1 taken for a face"
    )
    assert (confusion + confusion).counts.tolist() == [[4, 2], [4, 6]]
