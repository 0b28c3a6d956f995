"""``kiwicha demo``."""

from typing import Any

import pytest

from kiwicha.report.recorded import recorded_demo
from tests.support.commands.command_line import Command


def test_demo_says_what_the_picture_shows(kiwicha: Command, hardware: Any) -> None:
    code, out, _ = kiwicha("demo")
    assert code == 0
    assert hardware.ran == [("demo", "64")]
    assert out.splitlines()[-1].startswith("answer: astronaut.png shows: face (")
    assert "DEPTHWISE_CONV_2D" in out
    assert "ms at 100 MHz" in out


def test_what_was_recorded_stands_beside_the_run(kiwicha: Command, hardware: Any) -> None:
    runs = recorded_demo()
    assert list(runs) == ["simd", "baseline"]
    _, out, _ = kiwicha("demo")
    (total,) = (line for line in out.splitlines() if " total " in line)
    for name, run in runs.items():
        assert run.beside.cycles is not None
        # The hardware of these tests takes 1000 cycles a layer.
        faster = run.beside.cycles / (1000 * len(run.beside.by_layer))
        assert f"│ {run.beside.cycles:,} │ {faster:,.0f}x │" in " ".join(total.split())
        assert f"{name}: {run.beside.cycles:,} cycles, recorded ({run.digest})" in out
    assert "kiwicha demo --with simd,baseline simulates these, too" in out


def test_layers_of_recorded_runs_are_those_of_the_model(kiwicha: Command, hardware: Any) -> None:
    _, out, _ = kiwicha("demo")
    rows = [line.split("│") for line in out.splitlines() if line.startswith("│")][:-1]
    for run in recorded_demo().values():
        assert run.beside.cycles == pytest.approx(sum(run.beside.by_layer.values()), rel=1e-3)
        assert [int(row[1]) for row in rows] == list(run.beside.by_layer)


def test_a_configuration_is_not_compared_with_itself(kiwicha: Command, hardware: Any) -> None:
    _, out, _ = kiwicha("demo", "--config", "simd")
    assert hardware.ran == [("demo", "simd")]
    assert "simd: " not in out.replace("demo on simd: ", "")
    assert "baseline: " in out


def test_others_are_simulated_on_request(kiwicha: Command, hardware: Any) -> None:
    code, out, _ = kiwicha("demo", "--config", "simd", "--with", "64, baseline")
    assert code == 0
    assert hardware.ran == [("demo", "simd"), ("demo", "64"), ("demo", "baseline")]
    (total,) = (" ".join(line.split()) for line in out.splitlines() if " total " in line)
    assert total.endswith("│ 31,000 │ 1.0x │ 310,000 │ 10.0x │")
    assert "recorded" not in out


@pytest.mark.parametrize("others", ["64", "simd,simd"])
def test_the_same_twice_is_refused(kiwicha: Command, hardware: Any, others: str) -> None:
    line = kiwicha.error("demo", "--with", others)
    assert line == "--with must name other configurations than 64, each of them once"


def test_wrong_hardware_exits_1(kiwicha: Command, hardware: Any) -> None:
    hardware.is_exact = False
    code, out, _ = kiwicha("demo")
    assert code == 1
    assert "NOT bit-exact" in out
