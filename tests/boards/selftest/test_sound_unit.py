"""The self-test of the unit for frames of sound, with a model of it in place of a board."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest

from kiwicha.boards.selftest.finding import Finding
from kiwicha.boards.selftest.runner import Runner
from kiwicha.boards.selftest.sound_unit import check_sound_unit
from kiwicha.contract.configs import find_config
from kiwicha.contract.serial import SerialInstruction
from kiwicha.contract.signal import SIGNAL_INDEXES, SignalOp
from kiwicha.sim.reference.cfu_model import CfuModel

CONFIG = find_config("simd-signal")
Fault = Callable[[SignalOp, int], int]


class ModelRunner:
    """What executes instructions as the unit does, but for a fault of its answers."""

    def __init__(self, fault: Fault = lambda op, answer: answer) -> None:
        self._model, self._fault = CfuModel(CONFIG), fault
        self.executed: set[tuple[int, int]] = set()

    def execute(self, instructions: Sequence[SerialInstruction], loads: Any = ()) -> list[int]:
        """Give the answer of each."""
        assert len(instructions) <= 4096
        answers = []
        for item in instructions:
            op, index = SignalOp(item.function_id >> 7), item.function_id >> 3 & 15
            self.executed.add((op, index))
            answer = self._model.execute(item.function_id, item.inputs_0, item.inputs_1)
            answers.append(self._fault(op, answer))
        return answers


def checked(runner: ModelRunner) -> list[Finding]:
    return list(check_sound_unit(cast("Runner", runner), CONFIG, seed=3))


def test_a_good_unit_passes_and_does_everything() -> None:
    runner = ModelRunner()
    found = checked(runner)
    assert [item.check.partition(", ")[2] for item in found] == ["spectra", "bands", "numbers"]
    assert all(item.is_good for item in found)
    known = {(op, index) for op, count in SIGNAL_INDEXES.items() for index in range(count)}
    assert runner.executed == known


@pytest.mark.parametrize(
    ("op", "checks"),
    [
        (SignalOp.POINT, {"spectra"}),
        (SignalOp.ROOT, {"bands", "numbers"}),
        (SignalOp.BITS, {"numbers"}),
        (SignalOp.MAGNITUDE, {"spectra", "bands"}),
    ],
)
def test_a_wrong_answer_is_named(op: SignalOp, checks: set[str]) -> None:
    def fault(executed: SignalOp, answer: int) -> int:
        return answer ^ 0x20 if executed is op and answer else answer

    wrong = [item for item in checked(ModelRunner(fault)) if not item.is_good]
    assert {item.check.partition(", ")[2] for item in wrong} == checks
    for item in wrong:
        assert f", {op.name}: expected " in item.difference


def test_other_configurations_have_nothing_to_check() -> None:
    runner = cast("Runner", ModelRunner())
    assert list(check_sound_unit(runner, find_config("64"), seed=3)) == []
