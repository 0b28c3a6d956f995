"""Runs a model on the frames of a simulated camera: ``python -m tools.camera``.

The camera shows parts of a picture, one after the other; ``firmware/demo/camera.c`` has the model
look at each frame that there is time for. Every output is compared with what the reference executor
gives for that frame.
"""

import argparse
import json
import struct
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture

from kiwicha import cache
from kiwicha.compiler import compile_stages
from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.contract.peripherals import Peripheral
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.firmware.sources import FOLDER
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from kiwicha.sim.soc.camera_model import (
    CAMERA_CONTENTS,
    CAMERA_FRAMES,
    CAMERA_HEIGHT,
    CAMERA_PERIOD_CYCLES,
    CAMERA_WIDTH,
)
from kiwicha.sim.verilator.fingerprint import run_fingerprint
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator
from kiwicha.zoo import models

__all__ = ["camera_report", "fingerprint", "frames", "main"]

_DEMO = FOLDER / "demo" / "camera.c"
_ORDER_BYTES = 256
_ALIGNMENT = 64
_ANSWER_BYTES = 16
_ANSWER = f"<2I{_ANSWER_BYTES}s"
_REPORT = "<2I"
_MAX_CYCLES = 100_000_000
_INT8_OF_UINT8 = 0x80


def frames() -> NDArray[np.uint8]:
    """Return what the camera shows: uint8 [frame, line, pixel]."""
    with (
        resources.as_file(resources.files("kiwicha.data") / "astronaut.png") as path,
        Picture.open(path) as picture,
    ):
        grey = np.asarray(picture.convert("L").resize((2 * CAMERA_WIDTH, 2 * CAMERA_HEIGHT)))
    places = [
        (k * CAMERA_HEIGHT // CAMERA_FRAMES, k * CAMERA_WIDTH // CAMERA_FRAMES)
        for k in range(CAMERA_FRAMES)
    ]
    return np.stack([grey[y : y + CAMERA_HEIGHT, x : x + CAMERA_WIDTH] for y, x in places])


def camera_report(model: str, config: str, *, count: int) -> dict[str, Any]:
    """Return what comes of a model on a camera's frames, as JSON has it.

    Parameters
    ----------
    model : str
        With one input, int8 [1, height, width, 1], and an output of 16 bytes at most.
    config : str
        With an engine.
    count : int
        Inferences.
    """
    begin = time.monotonic()
    program = _program(model, config)
    (source,) = program.inputs
    height, width = source.shape[1:3]
    left, top = (CAMERA_WIDTH - width) // 2, (CAMERA_HEIGHT - height) // 2
    seen = frames()
    taken = seen[:, top : top + height, left : left + width] ^ _INT8_OF_UINT8
    expected = [
        executor.run(program, [frame.tobytes()])[0].tobytes().ljust(_ANSWER_BYTES, b"\0")
        for frame in taken
    ]
    raw = program.to_bytes()
    place = cfu.IMAGE_ADDRESS + _ORDER_BYTES
    arena = place + -(-len(raw) // _ALIGNMENT) * _ALIGNMENT
    report = arena + -(-program.arena_bytes // _ALIGNMENT) * _ALIGNMENT
    report_bytes = struct.calcsize(_REPORT) + count * struct.calcsize(_ANSWER)
    order = [place, len(raw), arena, program.arena_bytes, count]
    order += [left, top, 1, width, height, report]
    hardware = find_config(config)
    simulator = build_simulator(hardware, peripherals=[Peripheral.CAMERA])
    image = _firmware(program, simulator.soc_header)
    ending = run_image(
        simulator,
        loads=[
            (cfu.ONCHIP_BASE, image.raw),
            (cfu.IMAGE_ADDRESS, struct.pack(f"<{len(order)}I", *order)),
            (place, raw),
        ],
        dumps=[(report, report_bytes)],
        memories={CAMERA_CONTENTS: seen.tobytes()},
        max_cycles=_MAX_CYCLES,
    )
    if ending.code:
        raise AssertionError(f"the demo must end with 0, not {ending.code} ({ending.uart})")
    shown, dropped = struct.unpack_from(_REPORT, ending.dumps[0])
    answers = list(struct.iter_unpack(_ANSWER, ending.dumps[0][struct.calcsize(_REPORT) :]))
    numbers, cycles, outputs = zip(*answers, strict=True)
    # The camera had begun before it was listened to.
    wrong = min(
        sum(
            output != expected[(number + first) % CAMERA_FRAMES]
            for number, output in zip(numbers, outputs, strict=True)
        )
        for first in range(CAMERA_FRAMES)
    )
    period = (cycles[-1] - cycles[0]) / (count - 1)
    return {
        "model": model,
        "config": config,
        "count": count,
        "different_outputs": len(set(expected)),
        "wrong": wrong,
        "frames": shown,
        "dropped": dropped,
        "first_numbers": list(numbers[:8]),
        "period": period,
        "frames_per_second": hardware.memory.clock_hz / period,
        "camera_frames_per_second": hardware.memory.clock_hz / CAMERA_PERIOD_CYCLES,
        "inputs": _fingerprint(program, simulator.soc_header),
        "seconds": round(time.monotonic() - begin),
    }


def fingerprint(report: Mapping[str, Any]) -> dict[str, str]:
    """Return hashes of what a report would depend on now."""
    hardware = find_config(report["config"])
    simulator = build_simulator(hardware, peripherals=[Peripheral.CAMERA])
    return _fingerprint(_program(report["model"], report["config"]), simulator.soc_header)


def _program(model: str, config: str) -> Program:
    raw = models.resolve(model)[1].read_bytes()
    return compile_stages(raw, config, double_buffer=True).program


def _firmware(program: Program, header: str) -> Image:
    kernels = {step.kernel for step in program.steps}
    config = find_config(program.config)
    return build_firmware(config, header, kernels=kernels, has_others=False, main=_DEMO)


def _fingerprint(program: Program, header: str) -> dict[str, str]:
    return {
        **run_fingerprint(program, peripherals=[Peripheral.CAMERA]),
        "firmware": cache.digest([_firmware(program, header).raw]),
    }


def main(words: Sequence[str] | None = None) -> int:
    """Measure; return 1 if an output is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.camera", description=__doc__)
    parser.add_argument("--model", default="person_detect", help="for grey pictures, int8")
    parser.add_argument("--config", default="64", help="one with an engine")
    parser.add_argument("--count", type=int, default=24, help="inferences")
    parser.add_argument("--json", type=Path, help="receives what is printed otherwise")
    chosen = parser.parse_args(words)
    report = camera_report(chosen.model, chosen.config, count=chosen.count)
    text = f"{json.dumps(report, indent=2)}\n"
    if chosen.json is None:
        sys.stdout.write(text)
    else:
        chosen.json.write_text(text, encoding="utf-8")
    return int(report["wrong"] > 0)


if __name__ == "__main__":
    sys.exit(main())
