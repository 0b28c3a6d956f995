"""From a model's name to the report of its run: what ``run``, ``demo`` and ``bench`` share."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha.boards.memories import memory_of
from kiwicha.commands.console import Display
from kiwicha.commands.recorded_inputs import features_of, takes_recordings
from kiwicha.compiler import Compilation, compile_stages
from kiwicha.compiler.engine.cost.cycles import predict_layers
from kiwicha.contract import configs
from kiwicha.contract.configs import find_config
from kiwicha.contract.detect import Detect
from kiwicha.contract.engine import EngineCounter
from kiwicha.contract.goal import Goal
from kiwicha.contract.program import DType
from kiwicha.detection.boxes import DETECTION_NAME, Found
from kiwicha.errors import UsageError
from kiwicha.kernels.element_types import NUMPY_TYPES
from kiwicha.pictures import PICTURE_SUFFIXES, describe, tensor_bytes
from kiwicha.program.image import Program
from kiwicha.program.parts import IoTensor
from kiwicha.report.answers import largest
from kiwicha.report.run_report import Report, make_report
from kiwicha.sim.profile.checked_run import run_checked
from kiwicha.sim.profile.profile import profile
from kiwicha.sim.profile.written_parts import Compared
from kiwicha.sim.reference import executor as reference
from kiwicha.sim.soc.run_memory import RunResult
from kiwicha.sim.verilator.image_run import DEFAULT_MAX_CYCLES
from kiwicha.sim.verilator.program_run import SimulatedRun, run_program
from kiwicha.sound.recordings import SOUND_SUFFIXES
from kiwicha.zoo import models as zoo

__all__ = [
    "Outcome",
    "Workload",
    "answer_lines",
    "answers",
    "checked_jobs",
    "differing_jobs",
    "first_difference",
    "measured_report",
    "model_inputs",
    "prepare",
    "random_inputs",
    "run_reference",
    "run_simulated",
]


@dataclass(frozen=True)
class Workload:
    """A model compiled for a configuration.

    Parameters
    ----------
    model : str
        Name in reports.
    labels : tuple of str
        Meaning of each element of the output; empty if unknown.
    config : configs.Config
        What it runs on.
    compilation : Compilation
        What every pass of the compiler gave.
    path : Path
        The model's file.
    """

    model: str
    labels: tuple[str, ...]
    config: configs.Config
    compilation: Compilation
    path: Path

    @property
    def program(self) -> Program:
        """What runs."""
        return self.compilation.program

    @property
    def inferences(self) -> int:
        """How often it runs in a row: with an engine twice, the second time with warm caches."""
        return 2 if self.config.engine_macs else 1


@dataclass(frozen=True)
class Outcome:
    """Outputs of a run, one after the other, and its report."""

    output: bytes
    report: Report
    simulation_hz: float
    """Simulated cycles per second of this machine; 0 if nothing was simulated."""
    result: SimulatedRun | None = None
    """Of the simulation; None if there was none."""
    compared: Compared | None = None
    """What a check of jobs has compared; None if there was none."""


def prepare(
    model: str,
    config: str,
    labels: Path | None = None,
    *,
    board: str | None = None,
    optimize: Goal = Goal.CYCLES,
    eliminate: bool = True,
    detect: Detect = Detect.HOST,
) -> Workload:
    """Find a model and compile it, for a board's memory; see `compile_model`.

    Raises
    ------
    KiwichaError
        If model, configuration or board are unknown, the model is not supported, or the labels are
        not as many as its first output has elements.
    """
    hardware = find_config(config).with_memory(memory_of(board))
    name, path, known = zoo.resolve(model)
    words = known if labels is None else zoo.read_labels(labels)
    compilation = compile_stages(
        path, hardware, optimize=optimize, eliminate=eliminate, detect=detect
    )
    workload = Workload(name, words, hardware, compilation, path)
    count = math.prod(workload.program.outputs[0].shape)
    if labels is not None and len(words) != count:
        raise UsageError(
            f"labels must have {count} lines, one for each element of the model's first output, "
            f"not {len(words)} ({labels})"
        )
    return workload


def model_inputs(workload: Workload, files: Sequence[Path]) -> list[bytes]:
    """Return the model's inputs from files, one for each in the model's order.

    The bundled model without a file gets the bundled picture.

    Raises
    ------
    UsageError
        If the number of files differs from the number of inputs, or one does not fit, as a picture
        does not fit a model of sound.
    """
    if not files and workload.model == zoo.DEMO:
        files = [zoo.demo_pictures()[0].path]
    tensors = workload.program.inputs
    if len(files) != len(tensors):
        wanted = "; ".join(f"{tensor.name!r}: {describe(tensor)}" for tensor in tensors)
        raise UsageError(
            f"--input must be given {_times(len(tensors))}, not {_times(len(files))} ({wanted})"
        )
    pictures = [path for path in files if path.suffix.lower() in PICTURE_SUFFIXES]
    if pictures and zoo.takes_sound(workload.path):
        remedy = "a .wav file" if takes_recordings(workload.path) else "their raw bytes"
        raise UsageError(
            f"input of {workload.model} must be features of sound ({describe(tensors[0])}), not a "
            f"picture ({pictures[0]}); give {remedy}"
        )
    recordings = [path for path in files if path.suffix.lower() in SOUND_SUFFIXES]
    if recordings:
        return [features_of(workload.model, workload.path, tensors, recordings[0])]
    return [tensor_bytes(tensor, path) for tensor, path in zip(tensors, files, strict=True)]


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def random_inputs(workload: Workload, seed: int = 0) -> list[bytes]:
    """Return inputs of uniformly distributed bytes, the same for the same seed."""
    rng = np.random.default_rng(seed)
    return [rng.bytes(tensor.ref.bytes) for tensor in workload.program.inputs]


def run_reference(workload: Workload, inputs: Sequence[bytes]) -> Outcome:
    """Execute the Program in numpy."""
    outputs = reference.run(workload.program, inputs)
    report = make_report(
        workload.program,
        model=workload.model,
        config=workload.config,
        target="reference",
        clock_hz=workload.config.memory.clock_hz,
        step_cycles=(),
        inference_cycles=(),
        bit_exact=None,
    )
    return Outcome(b"".join(output.tobytes() for output in outputs), report, 0.0)


def run_simulated(
    workload: Workload,
    inputs: Sequence[bytes],
    show: Display,
    *,
    check_boot: bool = False,
    max_cycles: int = DEFAULT_MAX_CYCLES,
    trace: Path | None = None,
    trace_start: int = 0,
    check_jobs: bool = False,
) -> Outcome:
    """Execute the Program on the simulated system and compare with the reference executor.

    With ``check_jobs`` not only outputs, but what each job and each transfer of the engine writes.
    """
    show.stage(f"executing {workload.model} in the reference executor")
    expected = run_reference(workload, inputs).output
    show.stage(f"preparing the simulator of {workload.config.name}")
    weights = [1 + workload.program.layers[step.layer].macs for step in workload.program.steps]
    options: dict[str, Any] = {
        "inferences": workload.inferences,
        "check_boot": check_boot,
        "max_cycles": max_cycles,
        "trace": trace,
        "trace_start": trace_start,
        "on_progress": show.steps(f"simulating {workload.model}", weights * workload.inferences),
        "on_build": show.stage,
    }
    compared = None
    if check_jobs:
        result, compared = run_checked(workload.program, inputs, **options)
    else:
        result = run_program(workload.program, inputs, **options)
    report = measured_report(
        workload,
        result,
        expected,
        target="sim",
        clock_hz=workload.config.memory.clock_hz,
        page=profile(workload.compilation, result.activity, result.step_cycles, result.job_ends),
    )
    simulation_hz = result.simulated_cycles / max(1e-9, result.wall_seconds)
    return Outcome(b"".join(result.outputs), report, simulation_hz, result, compared)


def measured_report(
    workload: Workload,
    result: RunResult,
    expected: bytes,
    *,
    target: str,
    clock_hz: int,
    page: Mapping[str, Any] | None = None,
) -> Report:
    """Return the report of a run on hardware, simulated or not.

    Parameters
    ----------
    workload : Workload
        What ran.
    result : RunResult
        What it left.
    expected : bytes
        The output of the reference executor.
    target : str
        Name of the hardware.
    clock_hz : int
        Its frequency.
    page : mapping or None
        What pages show of the run.
    """
    has_engine = workload.config.engine_macs > 0
    return make_report(
        workload.program,
        model=workload.model,
        config=workload.config,
        target=target,
        clock_hz=clock_hz,
        step_cycles=result.step_cycles,
        inference_cycles=(result.first_cycles, result.last_cycles)[: workload.inferences],
        bit_exact=b"".join(result.outputs) == expected,
        job_ends=result.job_ends,
        predicted=predicted_layers(workload),
        counters=_counters(result) if has_engine else None,
        profile=page,
    )


def predicted_layers(workload: Workload) -> list[int] | None:
    """Return the cycles of each layer by the compiler's model; None without an engine."""
    return predict_layers(workload.program) if workload.config.engine_macs else None


def _counters(result: RunResult) -> dict[str, int]:
    """Return what the engine's cycles of the last inference were used for, and the CPU's share."""
    steps = [values for values in result.counters[-1] if values]
    sums = {
        counter.name.lower(): sum(values[counter] for values in steps) for counter in EngineCounter
    }
    return {**sums, "cpu": result.last_cycles - sums["total"]}


def first_difference(tensors: Sequence[IoTensor], output: bytes, expected: bytes) -> str | None:
    """Return where outputs first differ, in words; None if nowhere.

    Parameters
    ----------
    tensors : sequence of IoTensor
        The outputs, in order.
    output, expected : bytes
        Of all of them, one after the other; compared bit by bit, shown as values.
    """
    count, total, first, start = 0, 0, "", 0
    for number, tensor in enumerate(tensors):
        end = start + tensor.ref.bytes
        dtype = np.dtype(NUMPY_TYPES[tensor.dtype])
        got, wanted = (np.frombuffer(raw[start:end], dtype) for raw in (output, expected))
        # As bytes: numbers that are not numbers are equal if their bits are.
        rows = [values.view(np.uint8).reshape(-1, dtype.itemsize) for values in (got, wanted)]
        differing = np.flatnonzero((rows[0] != rows[1]).any(axis=1))
        if differing.size and not count:
            at = int(differing[0])
            which = f"output {number} ({tensor.name!r})" if len(tensors) > 1 else "output"
            first = f"{which} differs first at index {at}: {got[at]}, expected {wanted[at]}"
        count, total, start = count + differing.size, total + got.size, end
    return f"{first} ({count} of {total} values differ)" if count else None


def found_objects(workload: Workload, output: bytes) -> list[str]:
    """Return the objects that a detector saw, a line for each; none if the model is no detector."""
    detection, tensors = workload.compilation.detection, workload.program.outputs
    on_device = workload.program.layers[-1].operator == DETECTION_NAME
    if detection is None and not on_device:
        return []
    raw = np.frombuffer(output, NUMPY_TYPES[tensors[0].dtype])
    ends = np.cumsum([math.prod(tensor.shape) for tensor in tensors])[:-1]
    split = zip(np.split(raw, ends), tensors, strict=True)
    parts = [part.reshape(tensor.shape) for part, tensor in split]
    found = Found(*parts) if detection is None else detection.find(*parts)
    lines = []
    for box, kind, score in zip(found.boxes[0], found.classes[0], found.scores[0], strict=True):
        number = int(kind)
        name = workload.labels[number] if number < len(workload.labels) else f"class {number}"
        top, left, bottom, right = (f"{value:.3f}" for value in box)
        if score > 0:
            lines.append(f"{name} ({100 * score:.1f} %) from {left}, {top} to {right}, {bottom}")
    return lines


def answers(workload: Workload, output: bytes) -> list[str]:
    """Return the largest elements of the first output in words; none if it has no labels."""
    tensor = workload.program.outputs[0]
    if tensor.dtype not in {DType.INT8, DType.UINT8}:
        return []
    scores = np.frombuffer(output[: tensor.ref.bytes], NUMPY_TYPES[tensor.dtype])
    if len(scores) != len(workload.labels):
        return []
    found = largest(tensor, scores, workload.labels)
    return [f"{label} ({100 * score:.1f} %)" for label, score in found]


def answer_lines(workload: Workload, output: bytes) -> list[str]:
    """Return the answer, and on a line of its own what comes after it."""
    words, *others = answers(workload, output) or [""]
    return [
        *([f"answer: {words}"] if words else []),
        *([f"then: {', '.join(others)}"] if others else []),
    ]


def checked_jobs(outcome: Outcome) -> list[str]:
    """Return what a check of jobs has compared, if there was one and it found nothing."""
    compared = outcome.compared
    return [] if compared is None or compared.difference else [f"checked: {compared}"]


def differing_jobs(outcome: Outcome) -> list[str]:
    """Return where a check of jobs found the first difference, if it found one."""
    compared = outcome.compared
    return [str(compared)] if compared is not None and compared.difference else []
