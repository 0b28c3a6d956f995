"""Local processes that measure points."""

import os
from pathlib import Path

import pytest
from support.mortal import die_first

from kiwicha.errors import ToolError
from kiwicha.explore.pool import LocalPool


def test_what_a_killed_process_was_doing_is_done_again(tmp_path: Path) -> None:
    marker = tmp_path / "killed"
    with LocalPool(2) as pool:
        mortal, other = pool.submit(die_first, str(marker), abs, -7), pool.submit(abs, -8)
        assert (mortal.result(), other.result()) == (7, 8)
        assert pool.submit(abs, -9).result() == 9
    assert marker.exists()


def test_work_that_always_kills_its_process_is_given_up() -> None:
    with LocalPool(1) as pool:
        with pytest.raises(ToolError) as raised:
            pool.submit(os._exit, 1).result()
        assert str(raised.value) == (
            "processes that measure must not be killed, but were 4 times (too little memory?); "
            "run the same command again: finished points are kept"
        )
        assert pool.submit(abs, -9).result() == 9


def test_an_error_of_the_work_is_its_result() -> None:
    with LocalPool(1) as pool, pytest.raises(ValueError, match="invalid literal"):
        pool.submit(int, "x").result()
