"""Inferences in a row: what differs, and which takes longer than the first ones."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from kiwicha.compiler import compile_model
from kiwicha.program.image import Program
from kiwicha.sim.reference.executor import Session
from kiwicha.sim.soc.sequence_memory import SequenceResult
from tests.support.models.streaming import STREAMING
from tools import soak


def simulated(program: Program, sets: Any, **_: Any) -> SequenceResult:
    """Give what a system would, with cycles that change."""
    session = Session(program)
    outputs = tuple(tuple(output.tobytes() for output in session.run(one)) for one in sets)
    return SequenceResult(outputs, tuple(100 + (7 * k) % 5 for k in range(len(sets))))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "ring.tflite"
    path.write_bytes(STREAMING["ring"](random.Random("ring1")).model)
    return path


def test_what_differs_is_numbered(model: Path) -> None:
    program = compile_model(model, "64")
    sets = soak.drawn(program, 5)
    outputs = [list(one) for one in simulated(program, sets).outputs]
    assert soak.differing(program, sets, outputs) == []
    outputs[3] = [bytes(255 - byte for byte in outputs[3][0]), *outputs[3][1:]]
    assert soak.differing(program, sets, outputs) == [3]
    assert soak.drawn(program, 5) == sets != soak.drawn(program, 5, seed=1)


def test_a_longer_inference_is_an_error(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(soak, "run_sequence", simulated)
    monkeypatch.setattr(soak, "run_fingerprint", lambda _: {"program": "1"})
    path = tmp_path / "out" / "a.json"
    assert soak.main([str(model), "--inferences", "20", "--json", str(path)]) == 0
    assert capsys.readouterr().out == (
        "ring on 64: 20 inferences, 0 differ; 100 cycles and more, at most 104 of the first 10, "
        "and 104 of the others\n"
    )
    outcome = json.loads(path.read_text())
    assert (outcome["most_at_beginning"], outcome["inputs"]) == (104, {"program": "1"})
    # Cycles are 100, 102, 104, 101, 103: the third one is longer than the first.
    assert soak.main([str(model), "--inferences", "3"]) == 1


@pytest.mark.verilator
@pytest.mark.nightly
def test_a_simulated_soak(model: Path) -> None:
    outcome = soak.soak(compile_model(model, "64"), 300, 100)
    assert outcome["differing"] == []
    assert outcome["most_after"] <= 1.02 * outcome["most_at_beginning"]
