"""What share of real time a model takes that hears words, from sound to answer.

``python -m tools.sound_share okay_nabu --config 64`` runs the frontend and a streaming model behind
it over drawn sound on the simulated system, and compares every byte with the reference executor.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kiwicha.compiler import compile_model
from kiwicha.contract.cfu import CLOCK_HZ
from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import SimulationError
from kiwicha.program.image import Program
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.program_run import run_program, run_sequence
from kiwicha.sound.frontend import frames, frontend_model
from kiwicha.sound.listening import Windows, hearing_of, step_samples
from kiwicha.sound.wake_words import Manifest
from kiwicha.zoo import models as zoo
from tools.soak import differing

__all__ = ["drawn_sound", "fingerprint", "layer_cycles", "main", "share", "sound_share"]

_SECONDS = 0.5


def drawn_sound(seed: int = 0) -> NDArray[np.int16]:
    """Return sound that becomes louder, up to what is cut off, with silence before it."""
    count = int(RATE_HZ * _SECONDS)
    rng, places = np.random.default_rng(seed), np.arange(count)
    tone = np.sin(places**1.5 / 900) * np.exp(11 * places / count)
    sound = (tone + rng.normal(0, 3, count)).clip(-(2**15), 2**15 - 1)
    sound[: count // 10] = 0
    return sound.astype(np.int16)


def share(outcome: Mapping[str, Any]) -> float:
    """Return what share of real time the CPU and the engine are busy."""
    cycles = outcome["frames"] * outcome["frame_cycles"] + outcome["inference_cycles"]
    return float(cycles / (outcome["frames"] * outcome["step_samples"] / RATE_HZ * CLOCK_HZ))


def layer_cycles(frontend: Program, frame: bytes) -> dict[str, int]:
    """Return the cycles of the operators of a frontend, in the second of two equal frames."""
    run = run_program(frontend, [frame], inferences=2)
    found: Counter[str] = Counter()
    for step, cycles in zip(frontend.steps, run.step_cycles[-1], strict=True):
        found[frontend.layers[step.layer].operator] += cycles
    return dict(found)


def sound_share(path: Path, name: str, config: str) -> dict[str, Any]:
    """Return the cycles of a frame and of an inference, and what they are of.

    Parameters
    ----------
    path : Path
        A model that keeps what it has heard.
    name : str
        What it is called.
    config : str
        What it runs on.

    Raises
    ------
    SimulationError
        If a byte differs from the reference executor's.
    """
    frontend, program = compile_model(frontend_model(), config), compile_model(path, config)
    manifest = Manifest(name)
    hearing, step = hearing_of(program, name, (), manifest), step_samples(manifest)
    start = time.monotonic()
    found = frames(drawn_sound(), step)
    features, frame_cycles = _simulated(frontend, [[frame.tobytes()] for frame in found])
    windows = Windows(hearing)
    sets = [[raw] for raw in map(windows.add, features) if raw is not None]
    _, inference_cycles = _simulated(program, sets)
    layers = layer_cycles(frontend, found[len(found) // 2].tobytes())
    return {
        "model": name,
        "config": config,
        "frames": hearing.hop,
        "step_samples": step,
        "frame_cycles": frame_cycles,
        "inference_cycles": inference_cycles,
        "layers": layers,
        "seconds": round(time.monotonic() - start),
    }


def _simulated(program: Program, sets: Sequence[Sequence[bytes]]) -> tuple[list[bytes], int]:
    """Return the outputs of inferences in a row, and their mean cycles."""
    run = run_sequence(program, sets)
    wrong = differing(program, sets, run.outputs)
    if wrong:
        raise SimulationError(f"inference {wrong[0]} must have the bytes of the reference executor")
    return [b"".join(outputs) for outputs in run.outputs], round(sum(run.cycles) / len(sets))


def fingerprint(outcome: Mapping[str, Any]) -> dict[str, str]:
    """Return hashes of what decides the cycles: of the model, and of the frontend before it."""
    _, path, _ = zoo.resolve(outcome["model"])
    model = run_fingerprint(compile_model(path, outcome["config"]))
    frontend = run_fingerprint(compile_model(frontend_model(), outcome["config"]))
    before = {f"frontend {what}": frontend[what] for what in ("firmware", "program")}
    return {**model, **before}


def main(words: Sequence[str] | None = None) -> int:
    """Measure, and print the share."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="a file, or a name of a public model")
    parser.add_argument("--config", default="64")
    parser.add_argument("--json", type=Path, help="receives what was measured")
    chosen = parser.parse_args(words)
    name, path, _ = zoo.resolve(chosen.model)
    outcome = sound_share(path, name, chosen.config)
    outcome["inputs"] = fingerprint(outcome)
    if chosen.json is not None:
        chosen.json.parent.mkdir(parents=True, exist_ok=True)
        chosen.json.write_text(f"{json.dumps(outcome, indent=2)}\n", encoding="utf-8")
    sys.stdout.write(
        f"{name} on {chosen.config}: {outcome['frame_cycles']:,} cycles for a frame, "
        f"{outcome['inference_cycles']:,} for an inference every {outcome['frames']} frames; "
        f"{share(outcome):.1%} of real time\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
