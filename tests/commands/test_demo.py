"""``kiwicha demo``."""

from typing import Any

from tests.support.commands.command_line import Command


def test_demo_says_what_the_picture_shows(kiwicha: Command, hardware: Any) -> None:
    code, out, _ = kiwicha("demo")
    assert code == 0
    assert hardware.ran == [("demo", "simd")]
    assert out.splitlines()[-1].startswith("answer: astronaut.png shows: face (")
    assert "DEPTHWISE_CONV_2D" in out
    assert "ms at 100 MHz" in out


def test_demo_with_the_baseline_shows_the_speed_up(kiwicha: Command, hardware: Any) -> None:
    code, out, _ = kiwicha("demo", "--with-baseline")
    assert code == 0
    assert hardware.ran == [("demo", "simd"), ("demo", "baseline")]
    assert "speed-up over the baseline: 10.0x" in out


def test_wrong_hardware_exits_1(kiwicha: Command, hardware: Any) -> None:
    hardware.is_exact = False
    code, out, _ = kiwicha("demo")
    assert code == 1
    assert "NOT bit-exact" in out
