"""The camera: which pixels are taken of a frame, and where they go."""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from litedram.common import LiteDRAMNativePort
from migen import run_simulation

from kiwicha.contract.cfu import DRAM_BASE
from kiwicha.contract.engine import LINE_BYTES
from kiwicha.sim.soc.camera import Camera
from kiwicha.sim.soc.camera_pixels import CameraPixels
from tests.sim.soc.dram_port import Memory

Frame = Sequence[Sequence[int]]
HALF_CYCLES = 2
"""Of the system, in which the pixel clock is high, and low."""


def random_frame(rng: random.Random, width: int, height: int) -> list[list[int]]:
    return [[rng.randrange(256) for _ in range(width)] for _ in range(height)]


def show(pads: Any, frames: Sequence[Frame], *, is_inverted: bool = False) -> Iterator[Any]:
    """Drive the pins of a camera."""

    def beat(*, href: bool, between: bool, data: int = 0x5A) -> Iterator[Any]:
        yield pads.href.eq(href)
        yield pads.vsync.eq(between ^ is_inverted)
        yield pads.data.eq(data)
        for level in (0, 1):
            yield pads.pclk.eq(level)
            for _ in range(HALF_CYCLES):
                yield

    for frame in frames:
        for _ in range(3):
            yield from beat(href=False, between=True)
        for line in frame:
            for _ in range(2):
                yield from beat(href=False, between=False)
            for value in line:
                yield from beat(href=True, between=False, data=value)
        yield from beat(href=False, between=False)
    for _ in range(4):
        yield from beat(href=False, between=True)


CASES = [
    {"left": 0, "top": 0, "step": 1, "width": 6, "height": 4},
    {"left": 2, "top": 1, "step": 1, "width": 3, "height": 2},
    {"left": 1, "top": 0, "step": 2, "width": 2, "height": 2, "is_signed": 1},
    {"left": 0, "top": 1, "step": 3, "width": 2, "height": 1, "is_inverted": 1},
    {"left": 1, "top": 0, "step": 1, "width": 2, "height": 3, "skips": 1, "is_signed": 1},
]


@pytest.mark.parametrize("case", CASES)
def test_a_part_of_each_frame_is_taken(case: dict[str, int]) -> None:
    rng = random.Random(1)
    frames = [random_frame(rng, 6, 4) for _ in range(2)]
    dut = CameraPixels()
    got: list[list[int]] = []
    ends: list[int] = []

    def drive() -> Iterator[Any]:
        yield dut.is_enabled.eq(1)
        for name, value in case.items():
            yield getattr(dut, name).eq(value)
        yield from show(dut.pads, frames, is_inverted=bool(case.get("is_inverted")))

    def watch() -> Iterator[Any]:
        # The last samples come late through the registers.
        for _ in range(2 * 4 * 60 * HALF_CYCLES):
            if (yield dut.begins):
                got.append([])
            if (yield dut.is_pixel):
                got[-1].append((yield dut.pixel))
            if (yield dut.ends):
                ends.append(len(got[-1]))
            yield

    run_simulation(dut, [drive(), watch()])
    assert got == [wanted(frame, **case) for frame in frames]
    assert ends == [case["width"] * case["height"]] * 2


def wanted(
    frame: Frame,
    *,
    left: int,
    top: int,
    step: int,
    width: int,
    height: int,
    skips: int = 0,
    is_signed: int = 0,
    is_inverted: int = 0,
) -> list[int]:
    """Return the pixels that are to be taken of a frame."""
    del is_inverted
    lines = [line[:: 2 if skips else 1] for line in frame]
    rows = lines[top::step][:height]
    return [value ^ (0x80 * is_signed) for row in rows for value in row[left::step][:width]]


@pytest.mark.parametrize("waits", [0, 20])
def test_frames_go_to_armed_places_in_turn(waits: int) -> None:
    rng = random.Random(3)
    frames = [random_frame(rng, 16, 2) for _ in range(4)]
    port = LiteDRAMNativePort("write", address_width=24, data_width=8 * LINE_BYTES)
    dut = Camera(pads=None, port=port)
    memory = Memory(port, waits)
    cycles = len(frames) * 45 * 2 * HALF_CYCLES + 300
    places = (0x1000, 0x2000)
    seen: list[tuple[int, int]] = []

    def drive() -> Iterator[Any]:
        registers = {"_left": 0, "_top": 0, "_step": 1, "_width": 16, "_height": 2}
        registers |= {"_place0": DRAM_BASE + places[0], "_place1": DRAM_BASE + places[1]}
        for name, value in registers.items():
            yield getattr(dut, name).storage.eq(value)
        yield dut._control.fields.enable.eq(1)
        yield from arm(3)
        yield from show(dut.pixels.pads, frames[:3])
        # Both places are full: the third frame has none.
        assert (yield dut._armed.status) == 0
        assert (yield dut._dropped.status) == 1
        yield from arm(1)
        yield from show(dut.pixels.pads, frames[3:])

    def arm(bits: int) -> Iterator[Any]:
        yield dut._arm.storage.eq(bits)
        yield dut._arm.re.eq(1)
        yield
        yield dut._arm.re.eq(0)
        yield

    def watch() -> Iterator[Any]:
        for _ in range(cycles):
            if (yield dut.ev.frame.trigger):
                seen.append(((yield dut._next.status), len(memory.lines)))
            yield

    run_simulation(dut, [drive(), watch(), memory.serve(cycles)])
    assert [place for place, _ in seen] == [0, 1, 0]
    # Each is announced when all of it is there; the last one takes the first one's place.
    assert [lines for _, lines in seen] == [2, 4, 4]
    assert [memory.read(place, 2 * LINE_BYTES) for place in places] == [
        bytes(value for line in frames[k] for value in line) for k in (3, 1)
    ]
