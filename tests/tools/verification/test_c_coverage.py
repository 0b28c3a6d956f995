"""Summaries of what gcov has counted."""

from tools.verification.c_coverage import summary


def test_files_are_joined_to_folders() -> None:
    counts = {
        "kernels/copy.c": {3: (2, [2, 0]), 4: (0, [])},
        "kernels/lstm.c": {9: (1, [1, 1])},
        "runtime/run.c": {1: (0, [0, 0])},
    }
    assert summary(counts) == [
        {"folder": "kernels", "lines": 3, "lines_met": 2, "branches": 4, "branches_met": 3},
        {"folder": "runtime", "lines": 1, "lines_met": 0, "branches": 2, "branches_met": 0},
    ]
