"""A device under test at a pseudo-terminal, as the runner opens it."""

import os
import threading

import serial

from kiwicha.compiler import compile_model
from kiwicha.firmware.native_library import NATIVE_CONFIG
from kiwicha.mlperf.benchmarks import find_benchmark
from kiwicha.mlperf.device import Device, Inference
from kiwicha.mlperf.line import opened_line, serve


def test_the_runner_opens_a_port_and_is_answered(zoo_model) -> None:
    program = compile_model(zoo_model("mlperf_kws_ref_model"), NATIVE_CONFIG)
    tensors = program.inputs[0], program.outputs[0]
    raw = bytes(range(256)) + bytes(234)
    given: list[bytes] = []

    def infer(value: bytes) -> Inference:
        given.append(value)
        return Inference(bytes(12), 100.0)

    with opened_line(None, 115_200) as (line, place), serial.Serial(place, timeout=5) as runner:
        device = Device(find_benchmark("kws"), tensors, infer)
        thread = threading.Thread(target=serve, args=(device, line), daemon=True)
        thread.start()
        assert runner.read_until(b"m-ready\r\n").endswith(b"m-init-done\r\nm-ready\r\n")
        for command in ("name", "db load 490", f"db {raw[:245].hex()}", f"db {raw[245:].hex()}"):
            runner.write(f"{command}%".encode())
            answer = runner.read_until(b"m-ready\r\n")
        assert answer == b"m-load-done\r\nm-ready\r\n"
        runner.write(b"infer 3 1%")
        answer = runner.read_until(b"m-ready\r\n")
        assert b"m-lap-us-100\r\nm-lap-us-400\r\nm-infer-done\r\nm-results-[0." in answer
        assert given == [raw]


def test_a_pseudo_terminal_passes_bytes_as_they_are() -> None:
    """Whoever opens it need not set it up: there are neither lines nor an echo."""
    with opened_line(None, 115_200) as (line, place):
        runner = os.open(place, os.O_RDWR | os.O_NOCTTY)
        try:
            line.write(b"m-ready\r\n")
            assert os.read(runner, 99) == b"m-ready\r\n"
            os.write(runner, b"name%")
            assert line.read() == b"name%"
        finally:
            os.close(runner)
