"""Spoilt Programs through the C runtime."""

import pytest

from tools.fuzz import runtime
from tools.fuzz.runtime import RuntimeResult, spoil_programs
from tools.fuzz.seeds import small_program


@pytest.mark.nightly
def test_spoilt_programs_are_refused_or_harmless() -> None:
    raw = small_program()
    flips = spoil_programs(raw, 0, 1000, "flips")
    assert (flips.executions, flips.crashes, flips.hangs) == (1000, 0, 0)
    assert 0 < flips.opened < 1000
    drawn = spoil_programs(raw, 0, 200)
    assert (drawn.executions, drawn.crashes, drawn.hangs) == (200, 0, 0)


@pytest.mark.nightly
@pytest.mark.slow
def test_every_byte_of_a_small_program_is_changed() -> None:
    """There are no more flips than that."""
    raw = small_program()
    most = runtime.FLIPS_PER_BYTE * len(raw)
    assert spoil_programs(raw, most - 9, most + 1000, "flips").executions == 9


def test_what_cannot_be_run_is_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    script = tmp_path / "fuzz"
    script.write_text("#!/bin/sh\necho AddressSanitizer >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(runtime, "build_native", lambda config, main, level: script)
    assert spoil_programs(b"", 0, 1) == RuntimeResult(0, 0, 1, 0, "AddressSanitizer\n")
    script.write_text("#!/bin/sh\nexit 66\n")
    assert spoil_programs(b"", 0, 1) == RuntimeResult(0, 0, 0, 1, "")
