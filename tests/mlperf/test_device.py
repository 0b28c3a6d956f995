"""The runner's serial protocol, from the device's end."""

import struct
from typing import Any

import numpy as np
import pytest

from kiwicha.compiler import compile_model
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.mlperf.benchmarks import Benchmark, find_benchmark
from kiwicha.mlperf.device import Device, Inference
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor

MICROSECONDS = 250.4


@pytest.fixture
def program(zoo_model: Any) -> Program:
    return compile_model(zoo_model("mlperf_kws_ref_model"), NATIVE_CONFIG)


class Recorded:
    """Executes the Program, and keeps the inputs."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.inputs: list[bytes] = []

    def __call__(self, raw: bytes) -> Inference:
        """Execute the Program."""
        self.inputs.append(raw)
        return Inference(executor.run(self.program, [raw])[0].tobytes(), MICROSECONDS)


def device(program: Program, benchmark: Benchmark) -> tuple[Device, Recorded]:
    infer = Recorded(program)
    return Device(benchmark, (program.inputs[0], program.outputs[0]), infer), infer


def said(found: Device, command: str) -> list[str]:
    """Give the lines of an answer, which ends with that the device is ready."""
    *lines, ready, end = found.feed(f"{command}%".encode()).decode().split("\r\n")
    assert (ready, end) == ("m-ready", "")
    return lines


def load(found: Device, raw: bytes, size: int = 30) -> None:
    assert said(found, f"db load {len(raw)}") == [f"m-[Expecting {len(raw)} bytes]"]
    for start in range(0, len(raw), size):
        lines = said(found, f"db {raw[start : start + size].hex()}")
        assert lines == (["m-load-done"] if start + size >= len(raw) else [])


def test_a_session_of_the_runner(program: Program) -> None:
    found, infer = device(program, find_benchmark("kws"))
    greeting = found.greeting().decode().split("\r\n")
    assert greeting == ["m-timestamp-mode-performance", "m-lap-us-0", "m-init-done", "m-ready", ""]
    assert said(found, "name") == ["m-name-dut-[Kiwicha]"]
    assert said(found, "profile")[1] == "m-model-[kws01]"
    raw = np.random.default_rng(2).bytes(490)
    load(found, raw)
    lines = said(found, "infer 10 2")
    assert lines[:7] == [
        *("m-warmup-start-2", "m-warmup-done", "m-infer-start-10"),
        *(f"m-lap-us-{round(2 * MICROSECONDS)}", f"m-lap-us-{round(12 * MICROSECONDS)}"),
        *("m-infer-done", lines[-1]),
    ]
    assert infer.inputs == [raw]
    output = program.outputs[0]
    stored = executor.run(program, [raw])[0].reshape(-1).astype(int)
    wanted = [f"{output.scale * (value - output.zero_point):0.3f}" for value in stored]
    assert lines[-1] == f"m-results-[{','.join(wanted)}]"
    assert said(found, "results") == lines[-1:]
    assert said(found, "timestamp") == [f"m-lap-us-{round(12 * MICROSECONDS)}"]
    assert said(found, "db print")[0] == "m-buffer-" + "-".join(f"{byte:02x}" for byte in raw[:8])


def test_commands_come_in_pieces_and_several_at_a_time(program: Program) -> None:
    found, _ = device(program, find_benchmark("kws"))
    assert found.feed(b"na") == b""
    assert found.feed(b"me%timestamp%na").count(b"m-ready") == 2
    assert found.feed(b"me%") == b"m-name-dut-[Kiwicha]\r\nm-ready\r\n"


def test_pixels_become_int8(program: Program) -> None:
    found, infer = device(program, find_benchmark("vww"))
    load(found, bytes([0, 127, 128, 255]) + bytes(486))
    said(found, "infer 1 0")
    assert infer.inputs[0][:5] == bytes([0x80, 0xFF, 0, 0x7F, 0x80])


def test_reals_are_quantized_and_told_as_a_distance(zoo_model: Any) -> None:
    program = compile_model(zoo_model("mlperf_ad01_int8"), NATIVE_CONFIG)
    found, infer = device(program, find_benchmark("ad"))
    tensor, output = program.inputs[0], program.outputs[0]
    values = np.random.default_rng(1).normal(0, 5, 640).astype(np.float32)
    load(found, struct.pack("<640f", *values), size=40)
    (result,) = said(found, "infer 1 0")[-1:]
    stored = np.frombuffer(infer.inputs[0], np.int8)
    nearest = values / np.float32(tensor.scale) + tensor.zero_point
    assert np.abs(stored - np.clip(nearest, -128, 127)).max() <= 0.5001
    given = executor.run(program, [infer.inputs[0]])[0].reshape(-1).astype(np.float64)
    distance = np.mean((output.scale * (given - output.zero_point) - values) ** 2)
    shown = float(result.removeprefix("m-results-[").removesuffix("]"))
    assert shown == pytest.approx(distance, abs=2e-3)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("fly", "Unknown command: fly"),
        ("", "Unknown command: "),
        ("db", "db must have a subcommand: load, print or bytes"),
        ("db load", "db load must have a number"),
        ("db load 0", "db load must be of 1 to 1048576 bytes, not 0"),
        ("db 00", "db load must come before its bytes"),
        ("db 0g", "db must have pairs of hex digits, not '0g'"),
        ("infer 0", "infer must be of 1 inference or more, after 0 warm-ups or more"),
        ("infer 1 -1", "infer must be of 1 inference or more, after 0 warm-ups or more"),
        ("infer x", "infer must have a number"),
        ("infer 1", "input must be 490 bytes, not 0"),
        ("results", "results must come after infer"),
    ],
)
def test_what_cannot_be_done_is_an_error_and_the_device_stays_ready(
    program: Program, command: str, text: str
) -> None:
    found, infer = device(program, find_benchmark("kws"))
    assert said(found, command) == [f"e-[{text}]"]
    assert not infer.inputs
