"""The check of interrupts: of the timer, and of the engine at the end of a list."""

from collections.abc import Iterator

import numpy as np

from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.lists import (
    difference,
    error_text,
    expected_outputs,
    loads_of_list,
    start_of_list,
)
from kiwicha.boards.selftest.models import Example
from kiwicha.boards.selftest.runner import Runner
from kiwicha.contract.self_test import SELF_TEST_TIMER_CYCLES, SelfTestInterrupts

__all__ = ["check_interrupts"]

_LATE_CYCLES = 2000
"""That the way to a handler may take; code and stack of the self-test are on chip."""
_CPU = "the CPU's interrupt lines or its controller"


def check_interrupts(
    runner: Runner, example: Example, rng: np.random.Generator
) -> Iterator[Finding]:
    """Yield what comes of the timer's interrupt and of the engine's.

    Parameters
    ----------
    runner : Runner
        A board whose engine has an interrupt.
    example : Example
        A list to wait for.
    rng : numpy.random.Generator
        Where its inputs come from.
    """
    inputs = [rng.bytes(item.ref.bytes) for item in example.program.inputs]
    expected = expected_outputs(example, inputs)
    found = runner.check_interrupts(
        start_of_list(example, example.image),
        loads_of_list(example, example.image, inputs, expected),
    )
    yield _timer(found)
    what = _engine(found) or difference(runner, example, expected)
    yield Finding(
        "interrupts, engine",
        f"came {found.engine_cycles:,} cycles after the start of a list, and woke the CPU",
        what,
        f"the engine's event, or {_CPU}" if what else "",
    )


def _timer(found: SelfTestInterrupts) -> Finding:
    late = found.timer_cycles - SELF_TEST_TIMER_CYCLES
    what = ""
    if found.timer_interrupts != 1:
        what = f"expected one interrupt, got {found.timer_interrupts}"
    elif not 0 <= late <= _LATE_CYCLES:
        what = (
            f"expected an interrupt after {SELF_TEST_TIMER_CYCLES:,} to"
            f" {SELF_TEST_TIMER_CYCLES + _LATE_CYCLES:,} cycles, got it after"
            f" {found.timer_cycles:,}"
        )
    return Finding(
        "interrupts, timer",
        f"came {found.timer_cycles:,} cycles after {SELF_TEST_TIMER_CYCLES:,} were asked for",
        what,
        f"LiteX's timer, or {_CPU}" if what else "",
    )


def _engine(found: SelfTestInterrupts) -> str:
    """Say what is wrong with the engine's interrupt; nothing if all is right."""
    if found.list_status:
        return f"expected the list to end well, got {error_text(found.list_status)}"
    if found.engine_before:
        return "expected no interrupt before a list, but one was there"
    if not found.engine_waits:
        return (
            f"expected an interrupt at the list's end, got none in {found.engine_cycles:,} cycles"
        )
    if found.engine_after:
        return "expected the interrupt to end when its event is cleared, but it stayed"
    return ""
