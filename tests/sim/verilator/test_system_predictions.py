"""The predicted cycles of each layer of public models, on the memories of boards with an engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kiwicha.commands import execution
from kiwicha.commands.console import display
from tests.support.choices import INT8_MODELS, at_night, by_day
from tools.predictions import comparisons

pytestmark = pytest.mark.verilator

RUNS = [
    *("cfu_magic_wand", "micro_speech_quantized", "mlperf_str_ww_ref_model"),
    *map(at_night, ("hello_world_int8", "mcunet_vww", "emza_ssd_slim_120x160x1", *INT8_MODELS)),
]
ENGINE_BOARDS = by_day("arty_a7_35", "ecpix5_85f", "ulx3s_85f")


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("board", ENGINE_BOARDS)
@pytest.mark.parametrize("model", RUNS)
def test_layers_take_what_was_predicted(
    zoo_model: Callable[[str], Path], model: str, board: str
) -> None:
    workload = execution.prepare(str(zoo_model(model)), "64", board=board)
    with display() as show:
        outcome = execution.run_simulated(workload, execution.random_inputs(workload), show)
    report = outcome.report
    assert report.bit_exact
    assert [item.line() for item in comparisons([report.to_json()]) if not item.is_right] == []
