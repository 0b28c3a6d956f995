"""The section on what share of real time hearing words takes."""

from collections.abc import Iterable

from tools.documents.sound_section import sound_section

ONE = {
    "model": "nabu",
    "config": "64",
    "frames": 3,
    "step_samples": 160,
    "frame_cycles": 95000,
    "inference_cycles": 15000,
    "layers": {"SignalRfft": 41000, "CAST": 1000},
}
UNIT = ONE | {"config": "64-signal", "frame_cycles": 20000, "layers": {"CAST": 900}}
AREA = {"config": "64-signal", "resources": {"LUT": 14000, "DSP48E1": 87}}


def fresh(paths: Iterable[str]) -> str:
    return f"fresh: {', '.join(paths)}"


def test_there_is_none_without_any() -> None:
    assert sound_section({}, {}, {"c": AREA}, fresh) == ""


def test_it_shows_shares_area_and_operators() -> None:
    lines = sound_section({"b": UNIT, "a": ONE}, {}, {"c": AREA}, fresh).splitlines()
    assert "| `64` | nabu | 95,000 | 15,000 | 3 | 10.0 % |  |  |" in lines
    assert "| `64-signal` | nabu | 20,000 | 15,000 | 3 | 2.5 % | 14,000 | 87 |" in lines
    assert "| SignalRfft | 41,000 |  |" in lines
    assert "| CAST | 1,000 | 900 |" in lines
    assert lines[-5:] == [
        "python -m tools.sound_share nabu --config 64 --json a",
        "python -m tools.sound_share nabu --config 64-signal --json b",
        "```",
        "",
        "fresh: a, b",
    ]


def test_it_shows_who_waited_for_a_microphone() -> None:
    heard = {
        "model": "speech",
        "config": "simd",
        "frames": 24,
        "inferences": 4,
        "waited": 0.7912,
        "late": 0,
    }
    lines = sound_section({"a": ONE}, {"m": heard}, {}, fresh).splitlines()
    assert "| `simd` | speech | 24 | 4 | 79.1 % | 0 |" in lines
    assert "python -m tools.microphone_share speech --config simd --json m" in lines
    assert lines[-1] == "fresh: a, m"
