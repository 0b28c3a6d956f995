"""What the page shows of a study."""

import pytest

from kiwicha.boards.family import Family
from kiwicha.explore.points import titles
from kiwicha.html_report.study import page_study
from tests.support.commands.example_runs import example_study


def test_a_study_is_shown_by_its_first_two_objectives() -> None:
    shown = page_study(example_study())
    assert shown["axes"] == ["bram", "cycles"]
    assert [row["front"] for row in shown["rows"]] == ["on the front", "beaten"]
    assert [row["simulated"] for row in shown["rows"]] == [101, None]


@pytest.mark.parametrize("kbit", [36, 18])
def test_block_rams_of_a_study_have_their_size_in_the_title(kbit: int) -> None:
    shown = page_study({**example_study(), "bram_kbit": kbit})
    assert shown["titles"]["bram"] == f"block RAMs of {kbit} Kbit, estimated"


def test_titles_are_those_of_the_search() -> None:
    assert page_study(example_study())["titles"] == titles(Family.XC7)


def test_what_was_not_tried_has_its_reason() -> None:
    assert page_study(example_study())["misfits"] == [
        {"config": "64-256k", "reason": "bram 72.5 of 37"}
    ]
