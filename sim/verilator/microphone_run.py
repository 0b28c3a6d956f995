"""Runs a frontend and a model on the sound of the simulated system's microphone."""

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kiwicha.contract import cfu
from kiwicha.contract.peripherals import Peripheral
from kiwicha.contract.sound import RATE_HZ
from kiwicha.errors import CapacityError, SimulationError, UsageError
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.firmware.sources import FOLDER
from kiwicha.program.image import Program
from kiwicha.sim.soc.microphone_model import MICROPHONE_CONTENTS, MICROPHONE_SAMPLES
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.simulator import build_simulator

__all__ = ["MicrophoneRun", "microphone_firmware", "run_microphone"]

_DEMO = FOLDER / "demo" / "microphone.c"
_PAGE_BYTES = 4096
_RING_SAMPLES = 1 << 12
"""A quarter of a second."""
_REPORT = "<6I"
_SAMPLE_BYTES = 2
_WORD_BYTES = 4
_SPARE = 4
"""Times real time that the firmware may need."""
_SPARE_CYCLES = 50_000_000


@dataclass(frozen=True)
class MicrophoneRun:
    """What came of the sound of a microphone.

    Parameters
    ----------
    places : tuple of int
        Of each frame, the number of its first sample.
    features, answers : tuple of bytes
        Outputs of the frontend for each frame, and of the model for each inference.
    ring : ndarray
        What the ring has at the end, int16.
    overruns : int
        How often a frame was overwritten before it was read.
    written : int
        Samples that were in DRAM when the last inference had ended.
    frame_cycles, inference_cycles : float
        Mean cycles of the steps of a frame and of an inference.
    busy : float
        Share of real time in which the CPU did not wait for samples.
    """

    places: tuple[int, ...]
    features: tuple[bytes, ...]
    answers: tuple[bytes, ...]
    ring: NDArray[np.int16]
    overruns: int
    written: int
    frame_cycles: float
    inference_cycles: float
    busy: float


def microphone_firmware(frontend: Program, model: Program, soc_header: str) -> Image:
    """Return the firmware that reads a microphone for a frontend and a model behind it.

    Parameters
    ----------
    frontend, model : Program
        For one configuration.
    soc_header : str
        ``kiwicha_soc.h`` of the system.
    """
    kernels = {step.kernel for program in (frontend, model) for step in program.steps}
    return build_firmware(model.config, soc_header, kernels=kernels, has_others=False, main=_DEMO)


def run_microphone(
    frontend: Program,
    model: Program,
    samples: NDArray[np.int16],
    *,
    frames: int,
    step_samples: int,
    hop: int,
    silence: bytes,
    ring_samples: int = _RING_SAMPLES,
    begin: int = 0,
    on_build: Callable[[str], None] | None = None,
) -> MicrophoneRun:
    """Simulate a system that hears a recording from its microphone, at the pace of sound.

    Parameters
    ----------
    frontend, model : Program
        For one configuration: samples to features, and a window of features to an answer.
    samples : ndarray
        The recording, int16.
    frames : int
        Frames that are read, `hop` or more.
    step_samples : int
        From one frame to the next.
    hop : int
        Frames from one inference to the next.
    silence : bytes
        Features of a frame before the first one.
    ring_samples : int
        Size of the ring, a power of two.
    begin : int
        The firmware begins to read when so many samples are there.
    on_build : callable or None
        Called with the name of each stage that takes time.

    Raises
    ------
    UsageError
        If the recording is longer than what the simulated microphone has.
    CapacityError
        If all of it does not fit into DRAM.
    SimulationError
        If the firmware reports an error, or the cycle limit is reached.
    ToolError
        If simulator or firmware cannot be built.
    """
    if len(samples) > MICROPHONE_SAMPLES:
        raise UsageError(
            f"recording must have {MICROPHONE_SAMPLES} samples or fewer for the simulated "
            f"microphone, not {len(samples)}; cut it, or leave --microphone out"
        )
    config = model.config
    inferences = frames // hop
    (window,), (answer,), (feature,) = model.inputs, model.outputs, frontend.outputs
    free = cfu.IMAGE_ADDRESS

    def space(size: int) -> int:
        nonlocal free
        place, free = free, free + -(-size // _PAGE_BYTES) * _PAGE_BYTES
        if free > cfu.DRAM_BASE + config.memory.dram_bytes:
            raise CapacityError(
                f"models, ring and answers must fit into {config.memory.dram_bytes} bytes of DRAM; "
                "cut the recording"
            )
        return place

    order_place = space(_PAGE_BYTES)
    order, loads = list[int](), list[tuple[int, bytes]]()
    for program in (frontend, model):
        raw = program.to_bytes()
        place = space(len(raw))
        loads.append((place, raw))
        order += [place, len(raw), space(program.arena_bytes), program.arena_bytes]
    sizes = (
        _SAMPLE_BYTES * ring_samples,
        window.ref.bytes,
        _WORD_BYTES * frames,
        feature.ref.bytes * frames,
        answer.ref.bytes * inferences,
        struct.calcsize(_REPORT),
    )
    ring, seen, *results = places = [space(size) for size in sizes]
    order += [ring, ring_samples, begin, frames, step_samples, hop, seen, *results]
    loads.append((seen, silence * (window.ref.bytes // len(silence))))
    simulator = build_simulator(config, peripherals=[Peripheral.MICROPHONE], on_build=on_build)
    image = microphone_firmware(frontend, model, simulator.soc_header)
    if on_build is not None:
        on_build(f"hearing {len(samples) / RATE_HZ:.2f} s of sound")
    loads += [(cfu.ONCHIP_BASE, image.raw), (order_place, struct.pack(f"<{len(order)}I", *order))]
    contents = samples.astype("<i2").tobytes().ljust(_SAMPLE_BYTES * MICROPHONE_SAMPLES, b"\0")
    heard = begin + frames * step_samples + frontend.inputs[0].ref.bytes // _SAMPLE_BYTES
    ending = run_image(
        simulator,
        loads=loads,
        dumps=list(zip(places, sizes, strict=True)),
        memories={MICROPHONE_CONTENTS: contents},
        max_cycles=_SPARE * heard * config.memory.clock_hz // RATE_HZ + _SPARE_CYCLES,
    )
    if ending.code:
        raise SimulationError(f"the firmware must end with 0, not {ending.code} ({ending.uart})")
    ring_raw, _, starts, features, answers, report = ending.dumps
    overruns, total, waited, of_frontend, of_model, written = struct.unpack(_REPORT, report)
    return MicrophoneRun(
        places=struct.unpack(f"<{frames}I", starts),
        features=_parts(features, feature.ref.bytes),
        answers=_parts(answers, answer.ref.bytes),
        ring=np.frombuffer(ring_raw, "<i2"),
        overruns=overruns,
        written=written,
        frame_cycles=of_frontend / frames,
        inference_cycles=of_model / inferences,
        busy=1 - waited / total,
    )


def _parts(raw: bytes, size: int) -> tuple[bytes, ...]:
    return tuple(raw[at : at + size] for at in range(0, len(raw), size))
