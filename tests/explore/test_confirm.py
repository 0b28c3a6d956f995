"""Points of the search on the simulated hardware, and as synthesised."""

import json
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kiwicha.boards.family import Family
from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_program
from kiwicha.contract import configs
from kiwicha.explore import confirm as confirmation
from kiwicha.explore.confirm import confirm
from kiwicha.zoo import models as zoo
from tests.support.commands.command_line import Command
from tests.support.models.two_heads import two_heads
from tests.support.requirements import find_in_models, module

_MOST_DEVIATION = 0.05
"""Of the cycle model, at confirmed points."""
COUNTS = {"LUT": 1.0, "DSP48E1": 2.0, "BRAM36": 3.0}


@pytest.fixture
def threads() -> Executor:
    return ThreadPoolExecutor(2)


@pytest.mark.nightly
@pytest.mark.verilator
def test_confirmed_cycles_are_simulated_ones(
    monkeypatch: pytest.MonkeyPatch, threads: Executor
) -> None:
    monkeypatch.setattr(confirmation, "core_resources", lambda *_: COUNTS)
    config = configs.ENGINE_FAMILY["64"]
    found = confirm([two_heads(), two_heads()], [config], threads, Family.XC7)["64"]
    assert found.bit_exact
    assert found.resources == COUNTS
    first, second = found.cycles
    assert first == second
    # What the CPU does here the cycle model only guesses.
    assert first > predict_program(compile_model(two_heads(), config))[1][0][0]


def test_each_configuration_keeps_its_own_results(
    monkeypatch: pytest.MonkeyPatch, threads: Executor
) -> None:
    monkeypatch.setattr(
        confirmation, "simulate", lambda model, config: (len(model) * config.engine_macs, model)
    )
    monkeypatch.setattr(
        confirmation, "synthesise", lambda config, family: {family.value: config.engine_macs}
    )
    wanted = [configs.ENGINE_FAMILY[name] for name in ("64", "32")]
    found = confirm([b"a", b"bb"], wanted, threads, Family.ECP5)
    assert list(found) == ["64", "32"]
    assert found["32"].cycles == (32, 64)
    assert found["64"].cycles == (64, 128)
    assert found["64"].resources == {"ecp5": 64}
    assert confirm([b"a", b""], wanted, threads, Family.XC7)["64"].bit_exact is False


@pytest.mark.nightly
@pytest.mark.slow
def test_a_cfu_is_synthesised_for_its_family(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    monkeypatch.setattr(confirmation, "core_resources", lambda *words: found.append(words))
    config = configs.ENGINE_FAMILY["32-8k"]
    for family in Family:
        confirmation.synthesise(config, family)
    texts = {family: text for text, _, family in found}
    assert "MULT18X18D" in texts[Family.ECP5]
    assert "DSP48E1" in texts[Family.XC7]
    assert {top for _, top, _ in found} == {"Cfu"}


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.synth
@pytest.mark.parametrize(("board", "count"), [("arty_a7_35", 2), ("ecpix5_85f", 1)])
def test_the_cycle_model_holds_at_the_best_points(
    kiwicha: Command, tmp_path: Path, board: str, count: int
) -> None:
    module("optuna", "optuna")
    words = ["--trials", 60, "--confirm", count, "--board", board, "--json", tmp_path / "s.json"]
    words += ["--study", tmp_path / "s.journal", "--objective", "cycles,lut"]
    models = [
        find_in_models(name) for name in ("person_detect.tflite", "mlperf_kws_ref_model.tflite")
    ]
    code, _, err = kiwicha("explore", *models, *words)
    assert code == 0, err
    study = json.loads((tmp_path / "s.json").read_text())
    points = [point for point in study["configurations"] if "confirmed" in point]
    assert len(points) == count
    for point in points:
        confirmed = point["confirmed"]
        assert confirmed["bit_exact"]
        assert confirmed["resources"]["LUT"] == pytest.approx(point["lut"], rel=0.1)
        for predicted, simulated in zip(point["by_model"], confirmed["cycles"], strict=True):
            assert predicted == pytest.approx(simulated, rel=_MOST_DEVIATION)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("64-r4-raw", _MOST_DEVIATION),
        # Its stripes have few rows: many short transfers wait beside results.
        ("128-8k-r4", 0.07),
        ("32-raw", _MOST_DEVIATION),
    ],
)
def test_unusual_engines_are_exact_and_predicted(name: str, deviation: float) -> None:
    config = configs.ENGINE_FAMILY[name]
    model = zoo.resolve(zoo.DEMO)[1].read_bytes()
    cycles, is_exact = confirmation.simulate(model, config)
    assert is_exact
    predicted, _ = predict_program(compile_model(model, config))
    assert predicted == pytest.approx(cycles, rel=deviation)
