"""Frames of the serial line in gateware, against the host's.

At night: by day `tests.boards.bringup.test_bring_up` sends frames through the whole design.
"""

import random
from pathlib import Path

import pytest

from kiwicha.boards.link.frames import encode_frame
from kiwicha.gateware.bringup.frame_decoder import FrameDecoder
from kiwicha.gateware.bringup.frame_encoder import FrameEncoder
from tests.support.gateware import bench

LONGEST = 600
BENCHES = "tests.gateware.bringup.bench_frames"


def some_bodies(seed: int) -> list[bytes]:
    """Give bodies around the length of a block, with few zeros, with many and with none."""
    chance = random.Random(seed)
    sizes = (1, 2, 249, 250, 251, 253, 254, 255, 504, 505, 508, LONGEST)
    return [
        *(bytes(size) for size in sizes[:3]),
        *(b"\x01" * size for size in sizes),
        *(chance.randbytes(size) for size in sizes),
        *(bytes(chance.choice((0, 7)) for _ in range(size)) for size in sizes[:6]),
    ]


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(("seed", "stall"), [(0, 0), (1, 0.5)])
def test_encoder(tmp_path: Path, seed: int, stall: float) -> None:
    bodies = some_bodies(seed)
    text = bench.component_verilog(FrameEncoder(body_bytes=LONGEST), "encoder")
    values = {
        "bodies": [list(body) for body in bodies],
        "frames": [list(encode_frame(body)) for body in bodies],
        "stall": stall,
        "seed": seed,
    }
    bench.run(bench.build(text, "encoder"), "encoder", f"{BENCHES}.encode", values, tmp_path)


@pytest.mark.nightly
@pytest.mark.verilator
@pytest.mark.parametrize(("seed", "stall"), [(0, 0), (1, 0.5)])
def test_decoder_drops_what_is_damaged(tmp_path: Path, seed: int, stall: float) -> None:
    """Changed bytes, lost ones, noise and halves of frames cost that frame and no other."""
    chance = random.Random(seed)
    line: list[int | None] = []
    good = []
    for body in some_bodies(seed):
        frame = list(encode_frame(body))
        line += frame
        good.append(list(body))
        damaged: list[int | None] = list(frame)
        at = chance.randrange(len(frame) - 1)
        match chance.randrange(4):
            case 0:
                damaged[at] = frame[at] % 255 + 1
            case 1:
                damaged[at] = None
            case 2:
                damaged = [*frame[:at], 0]
            case _:
                # A byte is missing; the zero at the end is not.
                damaged = [*frame[:at], *frame[at + 1 :]]
        line += damaged
        line += [0] * chance.randrange(3)
    text = bench.component_verilog(FrameDecoder(), "decoder")
    values = {"bytes": line, "bodies": good, "stall": stall, "seed": seed}
    bench.run(bench.build(text, "decoder"), "decoder", f"{BENCHES}.decode", values, tmp_path)
