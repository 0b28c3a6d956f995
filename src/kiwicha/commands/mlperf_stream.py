"""``kiwicha mlperf stream``: the streaming wake word over a recording."""

from pathlib import Path
from typing import Annotated

import typer

from kiwicha.commands.options import BoardName, ConfigName

__all__ = ["stream_benchmark"]


def stream_benchmark(
    recording: Annotated[
        Path, typer.Argument(help="A WAV file: one channel, 16 bits, 16,000 samples a second.")
    ],
    words: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Where the word is said: JSON of the runner, with detection_windows; counts what "
            "is detected rightly and wrongly.",
        ),
    ] = None,
    config: ConfigName = "64",
    board: BoardName = None,
    json: Annotated[str | None, typer.Option(help="Receives the results; - is stdout.")] = None,
) -> None:
    """Hear a recording as the streaming wake word of MLPerf Tiny v1.3 does.

    Every 32 ms the model hears the last second, with the C kernels of this machine: answers are
    those of the hardware. One inference is simulated, for the share of time that it takes.
    """
    import dataclasses

    from kiwicha.commands import console, execution
    from kiwicha.commands.made import made
    from kiwicha.compiler import compile_model
    from kiwicha.contract.sound import RATE_HZ
    from kiwicha.firmware.native_library import NATIVE_CONFIG
    from kiwicha.mlperf import streaming
    from kiwicha.mlperf.benchmarks import find_benchmark
    from kiwicha.sound.recordings import read_recording

    console.require_writable(json, read=[recording, words])
    benchmark = find_benchmark("sww")
    windows = streaming.read_windows(words) if words is not None else []
    samples = read_recording(recording)
    workload = execution.prepare(benchmark.model, config, board=board)
    streaming.require_length(workload.program, samples, recording)
    with console.display() as show:
        native = compile_model(workload.path, NATIVE_CONFIG)
        count = max(int(len(samples) / RATE_HZ / streaming.STEP_SECONDS), 1)
        report = show.count("hearing", count)
        times, values = streaming.heard(native, samples, report)
        outcome = execution.run_simulated(workload, execution.random_inputs(workload), show)
    detected = times[values > streaming.THRESHOLD]
    found = streaming.counted(detected.tolist(), windows)
    cycles, clock_hz = outcome.report.cycles or 0, outcome.report.clock_hz
    milliseconds = 1e3 * cycles / clock_hz
    duty = cycles / clock_hz / streaming.STEP_SECONDS
    if json is not None:
        console.write_json(
            json,
            {
                "recording": recording.name,
                "seconds": len(samples) / RATE_HZ,
                "inferences": len(times),
                **(dataclasses.asdict(found) if words is not None else {}),
                "detections": detected.tolist(),
                "config": workload.config.name,
                "cycles": cycles,
                "milliseconds": milliseconds,
                "duty_cycle": duty,
                "made": made(),
            },
        )
    if json != console.STDOUT:
        out = console.stdout()
        out.print(f"{len(times):,} inferences over {len(samples) / RATE_HZ:,.1f} s of sound")
        if words is not None:
            out.print(
                f"{len(found.true_positives)} true positives, {len(found.false_negatives)} false "
                f"negatives, {len(found.false_positives)} false positives "
                f"(wanted: {benchmark.quality})"
            )
        else:
            starts = ", ".join(f"{time:.2f}" for time in found.false_positives) or "never"
            out.print(f"heard at second: {starts}")
        step = f"{1e3 * streaming.STEP_SECONDS:g} ms"
        out.print(
            f"{workload.config.name}: {milliseconds:.3f} ms of every {step}, a duty cycle of "
            f"{100 * duty:.2f} %; features are made on the host, and not counted"
        )
    if not outcome.report.bit_exact:
        raise typer.Exit(1)
