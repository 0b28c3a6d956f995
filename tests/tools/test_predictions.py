"""The comparison of predicted with measured cycles, layer by layer."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands.example_runs import example_run
from tools.predictions import CPU_SHARE, ENGINE_SHARE, SLACK_CYCLES, comparisons, main


def run_of(where: str, cycles: int, predicted: int) -> dict[str, Any]:
    run = example_run(layers=1)
    run["layers"][0] |= {"where": where, "cycles": cycles}
    run["profile"]["layers"][0]["predicted"] = predicted
    return run


@pytest.mark.parametrize(("where", "share"), [("cpu", CPU_SHARE), ("engine", ENGINE_SHARE)])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_prediction_may_be_wrong_by_so_much(
    where: str, share: float, sign: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cycles = 100_000
    most = round(share * cycles) + SLACK_CYCLES
    file = tmp_path / "runs.json"
    for off, status in ((most, 0), (most + 1, 1)):
        file.write_text(json.dumps([run_of(where, cycles, cycles + sign * off)]))
        assert main([str(file)]) == status
        out = capsys.readouterr().out
        assert f"1 layers, {status} predicted wrongly" in out
        assert ("wrong\n" in out.replace("wrongly", "")) == bool(status)


def test_layers_without_a_step_or_a_prediction_do_not_count() -> None:
    nothing = run_of("none", 0, 0)
    plain = run_of("cpu", 100, 0)
    del plain["profile"]["layers"][0]["predicted"]
    reference = run_of("cpu", 100, 0)
    del reference["profile"]
    assert list(comparisons([nothing, plain, reference])) == []
