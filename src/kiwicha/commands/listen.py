"""``kiwicha listen``: words in a recording, or from a microphone."""

import contextlib
import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwicha.commands.options import ConfigName
from kiwicha.errors import SimulationError, UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kiwicha.commands.console import Display
    from kiwicha.commands.execution import Workload
    from kiwicha.contract.configs import Config
    from kiwicha.program.image import Program
    from kiwicha.sound.listening import Heard, Hearing
    from kiwicha.sound.wake_words import Manifest

__all__ = ["listen"]

_MANIFEST = ".json"


class Listening(enum.StrEnum):
    """What executes frontend and model."""

    NATIVE = "native"
    REFERENCE = "reference"
    SIM = "sim"


def listen(
    model: Annotated[
        str,
        typer.Argument(help="A model that hears words, or the .json of microWakeWord beside it."),
    ],
    recording: Annotated[
        Path | None,
        typer.Option("--input", help="A WAV file: 16 kHz, one channel, 16 bits."),
    ] = None,
    microphone: Annotated[
        bool,
        typer.Option(
            "--microphone",
            help="Listen to the microphone until Ctrl-C; with --target sim, the simulated system "
            "hears --input from its own, at the pace of sound.",
        ),
    ] = False,
    target: Annotated[
        Listening,
        typer.Option(help="The C kernels on this machine, numpy, or the simulated system on chip."),
    ] = Listening.NATIVE,
    config: ConfigName = "64",
) -> None:
    """Hear words in sound, and print when, and what share of real time that takes."""
    from kiwicha.commands import console, execution
    from kiwicha.contract.sound import RATE_HZ
    from kiwicha.sound import listening, recordings, wake_words
    from kiwicha.sound.frontend import frames

    is_simulated = microphone and target is Listening.SIM
    if is_simulated and recording is None:
        raise UsageError(
            "--microphone must be given with --target native or reference, or with --input for "
            "the simulated one: a simulation is slower than sound"
        )
    if (recording is None) != microphone and not is_simulated:
        given = "both" if microphone else "neither"
        raise UsageError(f"--input or --microphone must be given, not {given}")
    manifest = None
    if model.endswith(_MANIFEST):
        manifest = wake_words.read_manifest(Path(model))
        model = str(manifest.model)
    samples = None if recording is None else recordings.read_recording(recording)
    workload = execution.prepare(model, config)
    manifest = manifest or _usual_manifest(workload)
    hearing = listening.hearing_of(workload.program, workload.model, workload.labels, manifest)
    parts = _Parts(workload, _frontend(config), manifest, hearing)
    out = console.stdout()
    with console.display() as show:
        if samples is None:
            blocks = recordings.microphone(listening.step_samples(manifest))
            out.print(_costs(parts, None))
            with contextlib.suppress(KeyboardInterrupt):
                _follow(parts, target, listening.overlapping(blocks), show.line)
            return
        found = frames(samples, listening.step_samples(manifest))
        if len(found) < hearing.hop:
            raise UsageError(
                f"recording must have {hearing.hop} frames or more, not {len(found)} ({recording})"
            )
        lines: list[str] = []
        cycles: tuple[float, float] | None = None
        pace: str | None = None
        if is_simulated:
            cycles, pace = _simulate_microphone(parts, samples, len(found), lines.append, show)
        elif target is Listening.SIM:
            cycles = _simulate(parts, found, lines.append, show)
        else:
            show.stage(f"listening with {workload.model}")
            _follow(parts, target, iter(found), lines.append)
    for line in lines or ["nothing heard"]:
        out.print(line)
    out.print(
        f"{len(samples) / RATE_HZ:.2f} s of sound: {len(found)} frames, "
        f"{len(found) // hearing.hop} inferences of {workload.model}"
    )
    if pace is not None:
        out.print(pace)
    out.print(_costs(parts, cycles))


@dataclass(frozen=True)
class _Parts:
    """What sound passes through."""

    workload: "Workload"
    frontend: "Program"
    manifest: "Manifest"
    hearing: "Hearing"


def _usual_manifest(workload: "Workload") -> "Manifest":
    """Return what counts without a manifest."""
    from kiwicha.sound.wake_words import WINDOW_COUNT, WINDOW_CUTOFF, Manifest
    from kiwicha.zoo.models import frame_step_ms

    if workload.program.states:
        return Manifest(workload.model)
    step_ms = frame_step_ms(workload.path)
    if not step_ms:
        raise UsageError(
            f"{workload.model} must keep what it has heard from one inference to the next, have a "
            "manifest, or be a public model whose frontend is known"
        )
    return Manifest(workload.model, None, WINDOW_CUTOFF, WINDOW_COUNT, step_ms)


def _frontend(config: "str | Config") -> "Program":
    from kiwicha.compiler import compile_model
    from kiwicha.sound.frontend import frontend_model

    return compile_model(frontend_model(), config)


def _follow(
    parts: _Parts,
    target: Listening,
    found: "Iterator[NDArray[np.int16]]",
    say: Callable[[str], None],
) -> None:
    """Say which words frames hold, as they come."""
    import numpy as np

    from kiwicha.compiler import compile_model
    from kiwicha.firmware.native_library import NATIVE_CONFIG
    from kiwicha.interpreter.executors import executor_of
    from kiwicha.sound.listening import Listener, Windows

    frontend, program = parts.frontend, parts.workload.program
    if target is Listening.NATIVE:
        frontend = _frontend(NATIVE_CONFIG)
        program = compile_model(parts.workload.path, NATIVE_CONFIG)
    hear, think = (executor_of(target.value, item, 1) for item in (frontend, program))
    listener, windows = Listener(program, parts.hearing, parts.manifest), Windows(parts.hearing)
    shape = program.inputs[0].shape
    for frame in found:
        ((features,),) = hear.run([[frame]])
        raw = windows.add(features.tobytes())
        if raw is not None:
            ((answer,),) = think.run([[np.frombuffer(raw, np.int8).reshape(shape)]])
            _say(listener.hear(answer.tobytes()), say)


def _say(heard: "Heard | None", say: Callable[[str], None]) -> None:
    if heard is not None:
        say(f"{heard.word} at {heard.seconds:.2f} s (mean probability {heard.mean:.3f})")


def _simulate(
    parts: _Parts,
    found: "NDArray[np.int16]",
    say: Callable[[str], None],
    show: "Display",
) -> tuple[float, float]:
    """Say which words frames hold; return the mean cycles of a frame and of an inference."""
    from kiwicha.sim.verilator.program_run import run_sequence
    from kiwicha.sound.listening import Listener, Windows

    def simulated(
        program: "Program", sets: Sequence[Sequence[bytes]], what: str
    ) -> tuple[list[bytes], float]:
        show.stage(f"preparing the simulator of {program.config.name}")
        weights = [1] * len(program.steps) * len(sets)
        result = run_sequence(
            program,
            sets,
            on_progress=show.steps(f"simulating {what}", weights),
            on_build=show.stage,
        )
        answers = [b"".join(outputs) for outputs in result.outputs]
        _compare(program, sets, answers, what)
        return answers, sum(result.cycles) / len(sets)

    program, windows = parts.workload.program, Windows(parts.hearing)
    features, frame_cycles = simulated(parts.frontend, [[f.tobytes()] for f in found], "frame")
    sets = [[raw] for raw in map(windows.add, features) if raw is not None]
    answers, cycles = simulated(program, sets, "inference")
    listener = Listener(program, parts.hearing, parts.manifest)
    for answer in answers:
        _say(listener.hear(answer), say)
    return frame_cycles, cycles


def _simulate_microphone(
    parts: _Parts,
    samples: "NDArray[np.int16]",
    frames: int,
    say: Callable[[str], None],
    show: "Display",
) -> tuple[tuple[float, float], str]:
    """Say which words the simulated system hears from its microphone, while sound comes.

    Returns
    -------
    tuple
        As `_simulate`, and how well it kept pace.
    """
    import numpy as np

    from kiwicha.sim.soc.microphone_model import MICROPHONE_SAMPLES
    from kiwicha.sim.verilator.microphone_run import run_microphone
    from kiwicha.sound.frontend import FRAME_SAMPLES
    from kiwicha.sound.listening import SILENCE, Listener, Windows, step_samples

    program, hearing = parts.workload.program, parts.hearing
    run = run_microphone(
        parts.frontend,
        program,
        samples,
        frames=frames,
        step_samples=step_samples(parts.manifest),
        hop=hearing.hop,
        silence=SILENCE,
        on_build=show.stage,
    )
    # Behind the recording the simulated microphone hears silence.
    heard = np.pad(samples, (0, MICROPHONE_SAMPLES - len(samples)))
    frame = np.arange(FRAME_SAMPLES)
    sets = [[heard.take(place + frame, mode="wrap").tobytes()] for place in run.places]
    _compare(parts.frontend, sets, run.features, "frame")
    windows, listener = Windows(hearing), Listener(program, hearing, parts.manifest)
    sets = [[raw] for raw in map(windows.add, run.features) if raw is not None]
    _compare(program, sets, run.answers, "inference")
    for answer in run.answers:
        _say(listener.hear(answer), say)
    pace = (
        f"while sound came from the microphone, the CPU waited for {100 * (1 - run.busy):.1f} % of "
        f"the time; it was too late {run.overruns} times"
    )
    return (run.frame_cycles, run.inference_cycles), pace


def _compare(
    program: "Program", sets: Sequence[Sequence[bytes]], answers: Sequence[bytes], what: str
) -> None:
    """Check what the simulated system has answered, inference by inference.

    Raises
    ------
    SimulationError
        If the reference executor answers otherwise.
    """
    from kiwicha.sim.reference.executor import Session

    session = Session(program)
    for number, (one, answer) in enumerate(zip(sets, answers, strict=True)):
        if b"".join(output.tobytes() for output in session.run(one)) != answer:
            raise SimulationError(f"{what} {number} differs from the reference executor")


def _costs(parts: _Parts, measured: tuple[float, float] | None) -> str:
    """Return what a second of sound costs on the board."""
    from kiwicha.compiler.engine.cost.cycles import predict_layers

    config, manifest = parts.workload.config, parts.manifest
    kind, cycles = "measured", measured
    if cycles is None:
        if not config.engine_macs:
            return f"cycles of {config.name}: --target sim measures them"
        programs = parts.frontend, parts.workload.program
        frame, inference = (float(sum(predict_layers(program))) for program in programs)
        kind, cycles = "predicted", (frame, inference)
    frames = 1000 / manifest.step_ms
    frontend, model = cycles[0] * frames, cycles[1] * frames / parts.hearing.hop
    clock_hz = config.memory.clock_hz
    return (
        f"{frontend + model:,.0f} cycles per second of sound on {config.name}, {kind}: frontend "
        f"{frontend:,.0f}, model {model:,.0f}; {100 * (frontend + model) / clock_hz:.1f} % of real "
        f"time at {clock_hz / 1e6:g} MHz"
    )
