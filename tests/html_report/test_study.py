"""What the page shows of a study."""

from kiwicha.html_report.study import page_study
from tests.support.commands.example_runs import example_study


def test_a_study_is_shown_by_its_first_two_objectives() -> None:
    shown = page_study(example_study())
    assert shown["axes"] == ["bram", "cycles"]
    assert [row["front"] for row in shown["rows"]] == ["on the front", "beaten", "does not fit"]
    assert [row["simulated"] for row in shown["rows"]] == [101, None, None]


def test_block_rams_of_a_study_have_their_size_in_the_title() -> None:
    assert page_study(example_study())["titles"]["bram"] == "BRAM36, about"
    assert page_study({**example_study(), "bram_kbit": 18})["titles"]["bram"] == "BRAM18, about"
