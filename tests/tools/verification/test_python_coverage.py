"""Summaries of what coverage.py has counted."""

from tools.verification.python_coverage import summary


def file(lines: int, met: int, branches: int, taken: int) -> dict[str, dict[str, int]]:
    counts = {
        "num_statements": lines,
        "covered_lines": met,
        "missing_lines": lines - met,
        "num_branches": branches,
        "covered_branches": taken,
    }
    return {"summary": counts}


def test_modules_are_joined_to_packages() -> None:
    packages, holes = summary({
        "/there/src/kiwicha/compiler/lower/tables.py": file(10, 9, 4, 4),
        "/there/src/kiwicha/compiler/lower/views.py": file(20, 20, 2, 1),
        "/there/src/kiwicha/numerics/integers.py": file(5, 3, 0, 0),
    })
    assert packages == [
        {
            "package": "compiler.lower",
            "lines": 30,
            "lines_met": 29,
            "branches": 6,
            "branches_met": 5,
        },
        {"package": "numerics", "lines": 5, "lines_met": 3, "branches": 0, "branches_met": 0},
    ]
    assert holes == [
        {"module": "numerics.integers", "missing": 2},
        {"module": "compiler.lower.tables", "missing": 1},
    ]
