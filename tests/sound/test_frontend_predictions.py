"""Predictions for the operators of the frontend, against those that were measured."""

import json
from collections import Counter
from pathlib import Path

import pytest

from kiwicha.compiler import compile_model
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.sound.frontend import frontend_model
from tools.predictions import CPU_SHARE

RECORDS = Path(__file__).parents[2] / "docs" / "results" / "sound"


@pytest.mark.parametrize("config", ["64", "64-signal"])
def test_each_operator_is_predicted_as_it_was_measured(config: str) -> None:
    recorded = json.loads((RECORDS / f"okay_nabu-{config}.json").read_text(encoding="utf-8"))
    program = compile_model(frontend_model(), config)
    found: Counter[str] = Counter()
    for layer, cycles in zip(program.layers, predict_layers(program), strict=True):
        found[layer.operator] += cycles
    wrong = {
        name: (cycles, found[name])
        for name, cycles in recorded["layers"].items()
        if abs(found[name] - cycles) > CPU_SHARE * cycles
    }
    assert wrong == {}
