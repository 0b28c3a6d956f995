"""What decides the cycles of a run changes its fingerprint."""

import dataclasses
from pathlib import Path

import pytest

from kiwicha.compiler import compile_model
from kiwicha.contract.configs import CONFIGS, Config
from kiwicha.firmware.build import Image
from kiwicha.program.image import Program
from kiwicha.sim.soc import probes
from kiwicha.sim.verilator import fingerprint
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from tests.support.models.two_heads import two_heads


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_model(two_heads(), "simd")


def test_hardware_firmware_and_program_are_told_apart(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching = probes.verilog_lines(has_engine=False)
    texts = {"soc.v": f"module soc; {watching} endmodule", "cpu.v": "module cpu; endmodule"}

    def elaborated(*_: Config, **__: object) -> Path:
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        return tmp_path

    image = Image(b"firmware", tmp_path, 0, 0, 0, 0)
    cfus = {config.name: config.name for config in CONFIGS.values()}
    monkeypatch.setattr(fingerprint, "elaborated", elaborated)
    monkeypatch.setattr(fingerprint, "cfu_hash", lambda config: cfus[config.name])
    monkeypatch.setattr(fingerprint, "soc_header_text", lambda _: "")
    monkeypatch.setattr(fingerprint, "build_firmware", lambda *_, **__: image)
    first = run_fingerprint(program)

    def differing() -> set[str]:
        now = run_fingerprint(program)
        return {what for what in first if now[what] != first[what]}

    assert not differing()
    texts["soc.v"] = "module soc;  endmodule"
    assert not differing(), "what watches counts"
    texts["cpu.v"] = "module cpu; wire x = 1; endmodule"
    assert differing() == {"hardware"}
    texts["cpu.v"] = "module cpu; endmodule"
    cfus["simd"] = "other"
    assert differing() == {"hardware"}
    cfus["simd"] = "simd"
    image = dataclasses.replace(image, raw=b"other")
    assert differing() == {"firmware"}
    image = dataclasses.replace(image, raw=b"firmware")
    program = compile_model(two_heads(), "baseline")
    assert differing() == {"program"}
