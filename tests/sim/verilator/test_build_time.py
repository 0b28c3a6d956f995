"""What a simulator's build says before it begins."""

from pathlib import Path

import pytest

from kiwicha.contract.configs import find_config
from kiwicha.sim.verilator import simulator
from kiwicha.sim.verilator.build_time import announcement, simulator_seconds
from kiwicha.sim.verilator.simulator import build_simulator

ENGINE_BYTES = 1_400_000
"""Of the Verilog of an engine's CFU."""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3, "compiling"),
        (20, "compiling"),
        (23, "compiling: about 20 s, kept for the next time"),
        (58.2, "compiling: about 60 s, kept for the next time"),
    ],
)
def test_long_stages_tell_their_time(seconds: float, text: str) -> None:
    assert announcement("compiling", seconds) == text


def test_waveforms_take_longer_and_cores_help() -> None:
    plain, traced = (simulator_seconds(ENGINE_BYTES, 2, trace=trace) for trace in (False, True))
    assert 10 < plain < traced <= 60
    assert simulator_seconds(ENGINE_BYTES, 4, trace=True) < traced
    assert simulator_seconds(90_000, 2, trace=True) < traced


class Begun(Exception):
    """Stands for a build."""


@pytest.mark.verilator
@pytest.mark.parametrize("trace", [False, True])
def test_a_build_tells_before_it_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, trace: bool
) -> None:
    config = find_config("64")
    system = simulator.elaborated(config)
    monkeypatch.setattr(simulator, "elaborated", lambda *_, **__: system)
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path))
    monkeypatch.setattr("kiwicha.tools.cores", lambda: 2)

    def begin(*_: object, **__: object) -> None:
        raise Begun

    monkeypatch.setattr(simulator, "compile_design", begin)
    said: list[str] = []
    with pytest.raises(Begun):
        build_simulator(config, trace=trace, on_build=said.append)
    waveforms = " with waveforms" if trace else ""
    (line,) = said
    assert line.startswith(f"compiling the simulator{waveforms}: about ")
    assert line.endswith(" s, kept for the next time")
