"""What simulators share of their builds."""

from pathlib import Path
from typing import Any

import pytest

from kiwicha.sim.verilator import verilated_runtime
from kiwicha.sim.verilator.verilated_runtime import runtime_names, runtime_objects

MAKEFILE = """\
# Generated support classes
VM_SUPPORT_SLOW += \\
  Vsoc__Syms__Slow \\

# Global classes, need linked once per executable, fast-path
VM_GLOBAL_FAST += \\
  verilated \\
  verilated_fst_c \\

# Global classes, need linked once per executable, non-fast-path
VM_GLOBAL_SLOW += \\
{slow}
# Verilated -*- Makefile -*-
"""


@pytest.mark.parametrize(("slow", "more"), [("", []), ("  verilated_cov \\\n", ["verilated_cov"])])
def test_all_sources_of_a_makefile_are_found(slow: str, more: list[str]) -> None:
    names = runtime_names(MAKEFILE.format(slow=slow))
    assert names == ["verilated", "verilated_fst_c", *more]


def test_an_object_is_compiled_once_for_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KIWICHA_CACHE", str(tmp_path))
    compiled: list[str] = []

    def compile_one(command: Any, source: Path, target: Path) -> None:
        assert source.is_file()
        compiled.append(source.stem)
        target.write_bytes(b"")

    monkeypatch.setattr(verilated_runtime, "_compile", compile_one)
    plain = runtime_objects(["verilated", "verilated_threads"])
    traced = runtime_objects(["verilated", "verilated_fst_c", "verilated_threads"])
    assert [path.stem for path in traced] == ["verilated", "verilated_fst_c", "verilated_threads"]
    assert [traced[0], traced[2]] == plain
    assert sorted(compiled) == ["verilated", "verilated_fst_c", "verilated_threads"]
    monkeypatch.setattr(verilated_runtime, "OPTIMISATION", "-O2")
    assert runtime_objects(["verilated"]) != plain[:1]
