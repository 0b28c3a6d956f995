"""The predicted cycles of each layer of public models, on the memories of boards with an engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.commands import execution
from kiwicha.commands.console import display
from tests.support.choices import INT8_MODELS
from tools.predictions import comparisons

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

ENGINE_BOARDS = ("arty_a7_35", "ecpix5_85f")


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("board", ENGINE_BOARDS)
@pytest.mark.parametrize("model", INT8_MODELS)
def test_layers_take_what_was_predicted(
    zoo_model: Callable[[str], Path], model: str, board: str
) -> None:
    workload = execution.prepare(str(zoo_model(model)), "64", board=board)
    with display() as show:
        outcome = execution.run_simulated(workload, execution.random_inputs(workload), show)
    report = outcome.report
    assert report.bit_exact
    assert report.predicted is not None
    assert report.cycles is not None
    assert abs(report.predicted / report.cycles - 1) < 0.05
    assert [item.line() for item in comparisons([report.to_json()]) if not item.is_right] == []
