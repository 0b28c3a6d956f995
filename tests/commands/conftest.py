"""Small models, and what stands for the hardware."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from kiwicha.commands import console, execution, streams
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from kiwicha.sim.soc.stream_memory import StreamResult
from tests.support.models.tflite_builder import ModelBuilder


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Average 4 x 4 grey pixels to 2 x 2."""
    builder = ModelBuilder()
    x = builder.tensor((1, 4, 4, 1), scale=0.5, zero_point=3)
    y = builder.tensor((1, 2, 2, 1), scale=0.5, zero_point=3)
    size = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2, "padding": 1}
    builder.operator("AVERAGE_POOL_2D", [x], [y], **size)
    path = tmp_path_factory.mktemp("models") / "tiny.tflite"
    path.write_bytes(builder.build(inputs=[x], outputs=[y]))
    return path


@pytest.fixture(scope="session")
def adder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Add two inputs of four elements."""
    builder = ModelBuilder()
    tensors = [builder.tensor((1, 4), scale=0.5, zero_point=0) for _ in range(3)]
    builder.operator("ADD", tensors[:2], tensors[2:])
    path = tmp_path_factory.mktemp("models") / "adder.tflite"
    path.write_bytes(builder.build(inputs=tensors[:2], outputs=tensors[2:]))
    return path


@pytest.fixture
def pixels(tmp_path: Path) -> Path:
    """Write an input of the model `tiny`."""
    path = tmp_path / "pixels.bin"
    path.write_bytes(bytes([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 5, 6, 7, 9]))
    return path


class Hardware:
    """Stands for the simulated system: counts cycles, and errs on request."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_exact = True
        self.is_stream_exact = True
        self.ran: list[tuple[str, str]] = []
        monkeypatch.setattr(execution, "run_simulated", self.run)
        monkeypatch.setattr(streams, "run_stream", self.run_stream)

    def run(
        self, workload: execution.Workload, inputs: list[bytes], show: console.Display
    ) -> execution.Outcome:
        """Answer as the reference executor does, 1000 cycles per layer; 10,000 without a CFU."""
        self.ran.append((workload.model, workload.config.name))
        outcome = execution.run_reference(workload, inputs)
        each = 1000 if workload.config.has_simd else 10_000
        cycles = each * len(outcome.report.layers)
        report = dataclasses.replace(
            outcome.report,
            target="sim",
            cycles=cycles,
            cycles_first=cycles,
            bit_exact=self.is_exact,
        )
        return execution.Outcome(outcome.output, report, 1e6)

    def run_stream(
        self, program: Program, sets: list[list[bytes]], *, inferences: int, **_: Any
    ) -> StreamResult:
        """Answer as the reference executor does, 1234 cycles after each other."""
        outputs = [
            tuple(value.tobytes() for value in executor.run(program, sets[number % len(sets)]))
            for number in range(inferences)
        ]
        if not self.is_stream_exact:
            outputs[-1] = tuple(bytes(len(raw)) for raw in outputs[-1])
        return StreamResult(tuple(outputs), tuple(1234 * number for number in range(inferences)))


@pytest.fixture
def hardware(monkeypatch: pytest.MonkeyPatch) -> Hardware:
    return Hardware(monkeypatch)
