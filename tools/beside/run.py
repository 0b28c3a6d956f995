"""A run of two models beside each other on the simulated system, by ``firmware/demo``."""

import dataclasses
import enum
import itertools
import random
import struct
from collections import Counter
from collections.abc import Sequence

from kiwicha.contract import cfu
from kiwicha.contract.configs import find_config
from kiwicha.contract.engine import EngineCall
from kiwicha.firmware.build import Image, build_firmware
from kiwicha.firmware.sources import FOLDER
from kiwicha.program.image import Program
from kiwicha.sim.reference import executor
from kiwicha.sim.verilator.image_run import run_image
from kiwicha.sim.verilator.program_run import run_program
from kiwicha.sim.verilator.simulator import build_simulator

__all__ = ["Mode", "Outcome", "demo_firmware", "histogram", "longest_job", "run_beside"]

DEMO = FOLDER / "demo" / "beside.c"
_HEAD_BYTES = 32
"""Of what is saved of the scratchpad: KIWICHA_SAVED_SCRATCHPAD_HEAD."""
_ALIGNMENT = 64
_ORDER_BYTES = 256
_MAX_CYCLES = 400_000_000
_REPORT = (
    *("total_cycles", "asleep_cycles", "slow_inferences"),
    *("wrong", "suspensions", "noise_wrong"),
)


class Mode(enum.IntEnum):
    """What the demo does."""

    INVOKE = 0
    """Inference after inference; the CPU waits for each."""
    SLEEP = 1
    """It sleeps until the engine's interrupt."""
    URGENT = 2
    """Besides, the urgent model runs whenever the timer asks for it."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What a run of the demo gave.

    Parameters
    ----------
    total_cycles : int
        Of all inferences.
    asleep_cycles : int
        Of them, those in which the CPU slept.
    slow_inferences : int
        Of the first model.
    wrong : int
        Inferences of both whose output was not what the reference gives.
    suspensions : int
        How often the first model has made room.
    noise_wrong : int
        Words of the CPU's own that were not what it had written.
    waits : tuple of int
        Cycles from each request of the timer to the start of the urgent model.
    """

    total_cycles: int
    asleep_cycles: int
    slow_inferences: int
    wrong: int
    suspensions: int
    noise_wrong: int
    waits: tuple[int, ...]


def saved_bytes(program: Program) -> int:
    """Return the bytes for what a suspended model leaves, so that others can use all of it."""
    calls = [step.params for step in program.steps if isinstance(step.params, EngineCall)]
    used = [call.scratchpad_bytes for call in calls]
    return max(used, default=0) + _HEAD_BYTES


def demo_firmware(programs: Sequence[Program], soc_header: str) -> Image:
    """Return the demo for some Programs of one configuration, compiled at most once."""
    kernels = {step.kernel for program in programs for step in program.steps}
    config = find_config(programs[0].config)
    return build_firmware(config, soc_header, kernels=kernels, has_others=False, main=DEMO)


def run_beside(
    slow: Program,
    urgent: Program,
    mode: Mode,
    *,
    count: int,
    least_cycles: int = 1,
    spread_cycles: int = 1,
    noise_bytes: int = 0,
    place_bytes: int | None = None,
    seed: int = 1,
) -> Outcome:
    """Run the demo.

    Parameters
    ----------
    slow, urgent : Program
        For one configuration that is preemptible; with one output that is looked at, the first.
    mode : Mode
        What it does.
    count : int
        Inferences, of the urgent model if there are any.
    least_cycles, spread_cycles : int
        Each request comes so many cycles after the urgent inference before, and at random up to
        as many more.
    noise_bytes : int
        The CPU reads and writes so many bytes of DRAM instead of sleeping.
    place_bytes : int or None
        Where the first model leaves what it has in the scratchpad; by default as much as the
        urgent one can use.
    seed : int
        Of inputs and requests.
    """
    rng = random.Random(seed)
    config = find_config(slow.config)
    loads: list[tuple[int, bytes]] = []
    place = cfu.IMAGE_ADDRESS + _ORDER_BYTES

    def put(raw: bytes, size: int | None = None) -> int:
        nonlocal place
        address = place
        loads.append((address, raw))
        place += -(-max(len(raw), size or 0) // _ALIGNMENT) * _ALIGNMENT
        return address

    order: list[int] = []
    for program in (slow, urgent):
        inputs = [rng.randbytes(item.ref.bytes) for item in program.inputs]
        outputs = executor.run(program, inputs)
        raw = program.to_bytes()
        arena = bytearray(program.arena_bytes)
        for item, value in zip(program.inputs, inputs, strict=True):
            arena[item.ref.offset : item.ref.offset + item.ref.bytes] = value
        wanted = bytes(outputs[0].tobytes())
        given = [put(raw), len(raw), put(bytes(arena)), len(arena), put(bytes(arena))]
        order += [*given, put(wanted), len(wanted)]
    room = saved_bytes(urgent) if place_bytes is None else place_bytes
    order += [mode, count, least_cycles, spread_cycles, rng.randrange(1, 1 << 32)]
    order += [put(b"", room), room, put(bytes(noise_bytes)), noise_bytes]
    report_bytes = 4 * (len(_REPORT) + count)
    order.append(put(bytes(report_bytes)))
    loads.append((cfu.IMAGE_ADDRESS, struct.pack(f"<{len(order)}I", *order)))
    simulator = build_simulator(config)
    image = demo_firmware((slow, urgent), simulator.soc_header)
    ending = run_image(
        simulator,
        loads=[(cfu.ONCHIP_BASE, image.raw), *((at, raw) for at, raw in loads if raw)],
        dumps=[(order[-1], report_bytes)],
        max_cycles=_MAX_CYCLES,
    )
    if ending.code:
        raise AssertionError(f"the demo must end with 0, not {ending.code} ({ending.uart})")
    words = struct.unpack(f"<{report_bytes // 4}I", ending.dumps[0])
    numbers = words[: len(_REPORT)]
    waits = words[len(_REPORT) :] if mode == Mode.URGENT else ()
    return Outcome(**dict(zip(_REPORT, numbers, strict=True)), waits=waits)


def longest_job(program: Program, seed: int = 1) -> int:
    """Return the cycles from the end of a job to that of the next one, at most; measured."""
    rng = random.Random(seed)
    run = run_program(program, [rng.randbytes(item.ref.bytes) for item in program.inputs])
    ends = [step for inference in run.job_ends for step in inference if step]
    return max(max(b - a for a, b in itertools.pairwise((0, *step))) for step in ends)


def histogram(waits: Sequence[int], width: int = 500) -> list[tuple[int, int]]:
    """Return how many of some numbers lie from each multiple of a width up to the next one."""
    counts = Counter(wait // width for wait in waits)
    return [(k * width, counts[k]) for k in range(min(counts), max(counts) + 1)]
