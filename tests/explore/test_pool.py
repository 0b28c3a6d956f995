"""Local processes that measure points."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kiwicha.errors import ToolError
from kiwicha.explore.pool import LocalPool
from tests.support.choices import by_day
from tests.support.processes.mortal import die_first, leave
from tests.support.requirements import REPOSITORY


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


INTERRUPTED = """
import os, signal, sys, time
from tests.support.choices import by_day
from tests.support.processes.mortal import wait_for_ever
from kiwicha.explore.pool import LocalPool
from tests.support.choices import by_day

# A shell lets what it runs in the background ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)
folder, begun, delay_s = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
with LocalPool(2) as pool:
    calls = [pool.submit(wait_for_ever, folder) for _ in range(6)]
    while len(os.listdir(folder)) < begun:
        time.sleep(0.01)
    time.sleep(delay_s)
    os.killpg(0, signal.SIGINT)
    calls[0].result()
"""


# Processes that start, at several moments; and two that work.
@pytest.mark.parametrize(
    ("begun", "delay_s"), by_day((0, 0.05), (0, 0.0), (0, 0.1), (0, 0.2), (0, 0.4), (2, 0.0))
)
def test_an_interrupt_ends_all_calls_without_a_word(
    begun: int, delay_s: float, tmp_path: Path
) -> None:
    words = [sys.executable, "-c", INTERRUPTED, tmp_path, str(begun), str(delay_s)]
    done = subprocess.run(
        words,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "tests")},
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    # The one traceback is that of the process itself, which here nothing catches.
    assert done.stderr.count("Traceback") == 1, done.stderr
    assert done.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert len(list(tmp_path.iterdir())) in range(begun, 3)


def fail_before(files: list[Path]) -> None:
    with LocalPool(1) as pool:
        wrong = pool.submit(int, "x")
        for file in files:
            pool.submit(leave, str(file))
        wrong.result()


def test_after_an_error_nothing_more_begins(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        fail_before([tmp_path / str(number) for number in range(20)])
    assert len(list(tmp_path.iterdir())) < 10
