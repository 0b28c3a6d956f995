"""Summaries of what coverage.py has counted, and records of several runs."""

from typing import Any

from tools.verification.python_coverage import joined, summary


def file(lines: int, met: int, branches: int, taken: int, *missing: int) -> dict[str, Any]:
    counts = {
        "num_statements": lines,
        "covered_lines": met,
        "missing_lines": lines - met,
        "num_branches": branches,
        "covered_branches": taken,
    }
    return {"summary": counts, "missing_lines": list(missing)}


def test_modules_are_joined_to_packages() -> None:
    packages, holes = summary({
        "/there/src/kiwicha/compiler/lower/tables.py": file(10, 9, 4, 4, 7),
        "/there/src/kiwicha/compiler/lower/views.py": file(20, 20, 2, 1),
        "/there/src/kiwicha/numerics/integers.py": file(8, 3, 0, 0, 2, 4, 5, 6, 9),
    })
    assert packages == [
        {
            "package": "compiler.lower",
            "lines": 30,
            "lines_met": 29,
            "branches": 6,
            "branches_met": 5,
        },
        {"package": "numerics", "lines": 8, "lines_met": 3, "branches": 0, "branches_met": 0},
    ]
    assert holes == [
        {"module": "numerics.integers", "missing": 5, "lines": "2, 4-6, 9"},
        {"module": "compiler.lower.tables", "missing": 1, "lines": "7"},
    ]


def run(command: str, **lines: int) -> dict[str, Any]:
    """Return a run that has met nothing of some packages."""
    return {
        **{"measured": [name.partition("_")[0] for name in lines], "command": command, "tests": 1},
        "packages": [
            {"package": name.replace("_", "."), "lines": count} for name, count in lines.items()
        ],
        "holes": [
            {"module": f"{name.replace('_', '.')}.x", "missing": count}
            for name, count in lines.items()
        ],
    }


def test_another_run_takes_the_place_of_its_packages() -> None:
    first = joined({}, run("all", numerics=3, compiler_lower=9, compiler_check=5))
    second = joined(first, run("one", numerics=7))
    assert [(row["package"], row["lines"]) for row in second["packages"]] == [
        ("compiler.check", 5),
        ("compiler.lower", 9),
        ("numerics", 7),
    ]
    assert [hole["module"] for hole in second["holes"]] == [
        "compiler.lower.x",
        "numerics.x",
        "compiler.check.x",
    ]
    assert [(each["command"], each["measured"]) for each in second["runs"]] == [
        ("all", ["compiler", "compiler"]),
        ("one", ["numerics"]),
    ]
    third = joined(second, run("rest", compiler_lower=1))
    assert [each["command"] for each in third["runs"]] == ["one", "rest"]
    assert [row["package"] for row in third["packages"]] == ["compiler.lower", "numerics"]
