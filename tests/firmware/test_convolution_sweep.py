"""All combinations of the parameters of convolutions, against the interpreters that define them.

Compiled for every configuration and run in the reference executor; compiled for the CPU, also by
the C kernels.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from kiwicha.compiler import compile_model
from kiwicha.firmware import native
from tests.support.models import convolution_sweep as sweep
from tools import reference_sweep

BLOCK = reference_sweep.BLOCK
"""Combinations that one test asks the oracle about."""
SAMPLE_STEP = 23
"""In continuous integration: every so many-th combination. No divisor of the parameters' counts."""


def test_there_are_enough() -> None:
    assert len(set(sweep.COMBINATIONS)) == len(sweep.COMBINATIONS) >= 3000


def check(combinations: Sequence[sweep.Combination], executables: dict[str, Path]) -> None:
    problems = reference_sweep.differing(combinations)
    found = reference_sweep.answers(combinations)
    for combination, (case, expected) in zip(combinations, found, strict=True):
        inputs = [array.tobytes() for array in case.inputs]
        for config, executable in executables.items():
            program = compile_model(case.model, config).to_bytes()
            result = native.run_native(executable, program, inputs, outputs=1)
            if result.outputs != tuple(output.tobytes() for output in expected):
                problems.append(f"{combination} {config}: C kernels, {result.status.name}")
    assert not problems


SAMPLE = sweep.COMBINATIONS[::SAMPLE_STEP]


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, len(SAMPLE), BLOCK))
def test_sample(first: int, executables: dict[str, Path]) -> None:
    check(SAMPLE[first : first + BLOCK], executables)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, len(sweep.COMBINATIONS), BLOCK))
def test_every_combination(first: int, executables: dict[str, Path]) -> None:
    check(sweep.COMBINATIONS[first : first + BLOCK], executables)


def test_the_sweep_reports_what_differs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = SAMPLE[:2]
    assert reference_sweep.differing(few) == []
    right = reference_sweep.answers(few)
    case, (output,) = right[1]
    wrong = [right[0], (case, (output ^ 1,))]
    monkeypatch.setattr(reference_sweep, "answers", lambda combinations: wrong)
    configs = reference_sweep.REFERENCE_CONFIGS
    assert reference_sweep.differing(few) == [f"{few[1]} {config}" for config in configs]
    assert reference_sweep.main(["--jobs", "1", "--step", "2000"]) == 0
    count = len(reference_sweep.EVERYTHING[::2000])
    assert f"{count} of {count} combinations" in capsys.readouterr().out
