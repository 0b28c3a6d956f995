"""How well the simulated system keeps pace with its microphone.

``python -m tools.microphone_share micro_speech --config simd`` lets it hear drawn sound, sample by
sample, with a frontend and a model behind it, and compares every byte with the reference executor.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kiwicha import cache
from kiwicha.compiler import compile_model
from kiwicha.contract.peripherals import Peripheral
from kiwicha.errors import SimulationError
from kiwicha.program.image import Program
from kiwicha.sim.soc.microphone_model import MICROPHONE_SAMPLES
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.microphone_run import microphone_firmware, run_microphone
from kiwicha.sim.verilator.simulator import soc_header_text
from kiwicha.sound.frontend import FRAME_SAMPLES, frames, frontend_model
from kiwicha.sound.listening import SILENCE, Windows, hearing_of, step_samples
from kiwicha.sound.wake_words import WINDOW_COUNT, WINDOW_CUTOFF, Manifest
from kiwicha.zoo import models as zoo
from tools.soak import differing
from tools.sound_share import drawn_sound

__all__ = ["fingerprint", "main", "microphone_share"]


def microphone_share(model: str, config: str) -> dict[str, Any]:
    """Return how long the CPU waited for samples, and how often it was too late for one.

    Parameters
    ----------
    model : str
        A public model that hears words.
    config : str
        What it runs on.

    Raises
    ------
    SimulationError
        If a byte differs from the reference executor's.
    """
    begin = time.monotonic()
    name, path, labels = zoo.resolve(model)
    frontend, program = _programs(path, config)
    manifest = Manifest(name)
    if not program.states:
        step_ms = zoo.frame_step_ms(path) or manifest.step_ms
        manifest = Manifest(name, None, WINDOW_CUTOFF, WINDOW_COUNT, step_ms)
    hearing, step = hearing_of(program, name, labels, manifest), step_samples(manifest)
    sound = drawn_sound()
    count = len(frames(sound, step))
    run = run_microphone(
        *(frontend, program, sound),
        frames=count,
        step_samples=step,
        hop=hearing.hop,
        silence=SILENCE,
    )
    heard = np.pad(sound, (0, MICROPHONE_SAMPLES - len(sound)))
    places = np.arange(FRAME_SAMPLES)
    sets = [[heard.take(place + places, mode="wrap").tobytes()] for place in run.places]
    _compare(frontend, sets, run.features, "frame")
    windows = Windows(hearing)
    sets = [[raw] for raw in map(windows.add, run.features) if raw is not None]
    _compare(program, sets, run.answers, "inference")
    return {
        "model": name,
        "config": config,
        "frames": count,
        "inferences": len(run.answers),
        "waited": round(1 - run.busy, 4),
        "late": run.overruns,
        "frame_cycles": round(run.frame_cycles),
        "inference_cycles": round(run.inference_cycles),
        "seconds": round(time.monotonic() - begin),
    }


def _programs(path: Path, config: str) -> tuple[Program, Program]:
    return compile_model(frontend_model(), config), compile_model(path, config)


def _compare(
    program: Program, sets: Sequence[Sequence[bytes]], answers: Sequence[bytes], what: str
) -> None:
    if wrong := differing(program, sets, [(answer,) for answer in answers]):
        raise SimulationError(f"{what} {wrong[0]} must have the bytes of the reference executor")


def fingerprint(outcome: Mapping[str, Any]) -> dict[str, str]:
    """Return hashes of what decides the cycles: of both Programs, and of the firmware for them."""
    _, path, _ = zoo.resolve(outcome["model"])
    frontend, program = _programs(path, outcome["config"])
    peripherals = [Peripheral.MICROPHONE]
    header = soc_header_text(program.config, peripherals=peripherals)
    firmware = microphone_firmware(frontend, program, header)
    return {
        **run_fingerprint(program, peripherals=peripherals),
        "firmware": cache.digest([firmware.raw]),
        "frontend program": cache.digest([frontend.to_bytes()]),
    }


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and print the share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a name of a public model")
    parser.add_argument("--config", default="simd")
    parser.add_argument("--json", type=Path, help="receives what was measured")
    chosen = parser.parse_args(words)
    outcome = microphone_share(chosen.model, chosen.config)
    outcome["inputs"] = fingerprint(outcome)
    if chosen.json is not None:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(f"{json.dumps(outcome, indent=2)}\n", encoding="utf-8")
    sys.stdout.write(
        f"{outcome['model']} on {outcome['config']}: while sound came from the microphone, the CPU "
        f"waited for {outcome['waited']:.1%} of the time; it was too late {outcome['late']} times\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
