"""The comparison of predicted with measured cycles, layer by layer."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.example_runs import example_run
from tools.predictions import CPU_SHARE, ENGINE_SHARE, SLACK_CYCLES, WHOLE, comparisons, main, rows


def run_of(where: str, cycles: int, predicted: int) -> dict[str, Any]:
    run = example_run(layers=1)
    run["layers"][0] |= {"where": where, "cycles": cycles, "predicted": predicted}
    return run


@pytest.mark.parametrize(("where", "share"), [("cpu", CPU_SHARE), ("engine", ENGINE_SHARE)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_prediction_may_be_wrong_by_so_much(
    where: str, share: float, sign: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cycles = 100_000
    most = round(share * cycles)
    file = tmp_path / "runs.json"
    for off, status in ((most, 0), (most + 1, 1)):
        file.write_text(json.dumps([run_of(where, cycles, cycles + sign * off)]))
        assert main([str(file)]) == status
        out = capsys.readouterr().out
        assert f"1 layers, {status} predicted wrongly" in out
        assert ("wrong\n" in out.replace("wrongly", "")) == bool(status)


@pytest.mark.parametrize("where", ["cpu", "engine"])
def test_a_short_layer_may_be_wrong_by_so_many_cycles(where: str) -> None:
    (right,) = comparisons([run_of(where, 300, 300 + SLACK_CYCLES)])
    (wrong,) = comparisons([run_of(where, 300, 301 + SLACK_CYCLES)])
    assert (right.is_right, wrong.is_right) == (True, False)
    assert right.is_short


def test_rows_have_the_largest_deviation_of_each_kind() -> None:
    runs = [run_of("engine", 10_000, 10_000 + off) for off in (100, -300, 200)]
    runs += [run_of("engine", 500, 490), run_of("cpu", 400, 420)]
    (cpu, engine) = rows(list(comparisons(runs)))
    assert cpu[1:] == ("cpu", "1", "", "+20")
    assert engine[1:] == ("engine", "4", "-3.0 %", "-10")


def test_layers_without_a_step_or_a_prediction_do_not_count() -> None:
    nothing = run_of("none", 0, 0)
    plain = run_of("cpu", 100, 0)
    del plain["layers"][0]["predicted"]
    assert list(comparisons([nothing, plain])) == []


def test_layers_beside_a_depthwise_unit_count_as_one() -> None:
    run = example_run(layers=2)
    for layer, cycles, predicted in zip(run["layers"], (100, 900), (800, 210), strict=True):
        layer |= {"where": "engine", "cycles": cycles, "predicted": predicted}
    assert [item.off for item in comparisons([run | {"config": "64"}])] == [700, -690]
    (whole,) = comparisons([run | {"config": "64-depthwise"}])
    assert (whole.cycles, whole.predicted, whole.operator) == (1000, 1010, WHOLE)


def test_sums_behind_a_convolution_count_as_a_part_of_it() -> None:
    run = example_run(layers=2)
    for layer, cycles, predicted in zip(run["layers"], (9000, 400), (9300, 100), strict=True):
        layer |= {"where": "engine", "cycles": cycles, "predicted": predicted}
    assert [item.off for item in comparisons([run])] == [300, -300]
    run["layers"][1]["behind"] = 0
    (convolution,) = comparisons([run])
    assert (convolution.index, convolution.cycles, convolution.predicted) == (0, 9400, 9400)
