"""How many cycles the loader takes for a byte: it must keep up with the line."""

import random
import struct
import subprocess
from pathlib import Path

import pytest

from kiwicha.boards.link.frames import encode_frame
from kiwicha.boards.selftest.power_up import power_up
from kiwicha.contract import cfu
from kiwicha.contract.configs import CONFIGS
from kiwicha.contract.peripherals import Peripheral
from kiwicha.contract.serial import SERIAL_BAUD, SERIAL_DATA_BYTES, SerialOp
from kiwicha.firmware.boot_image import build_boot_image
from kiwicha.sim.verilator.simulator import build_simulator
from tests.support.boards.simulated_board import USABLE_BYTES, board_header

pytestmark = [pytest.mark.verilator, pytest.mark.nightly]

_SLOWEST_CLOCK_HZ = 50_000_000
_FRAMES = 24


def frames() -> bytes:
    chance = random.Random(1)
    sent = bytearray()
    for number in range(_FRAMES):
        address = struct.pack("<I", cfu.IMAGE_ADDRESS + number * SERIAL_DATA_BYTES)
        body = bytes([number, SerialOp.WRITE]) + address + chance.randbytes(SERIAL_DATA_BYTES)
        sent += b"\0" + encode_frame(body)
    return bytes(sent)


@pytest.mark.parametrize(
    ("peripherals", "start_cycles"),
    [
        ([], 1_000_000),
        # Compiled for size; it looks for a card first, and there is none.
        ([Peripheral.SDCARD], 6_000_000),
    ],
)
def test_the_loader_keeps_up_with_the_line(
    tmp_path: Path, peripherals: list[Peripheral], start_cycles: int
) -> None:
    simulator = build_simulator(CONFIGS["simd"], peripherals=peripherals)
    image = build_boot_image(
        CONFIGS["simd"],
        board_header(simulator),
        loader_address=cfu.DRAM_BASE + USABLE_BYTES,
        power_up=power_up(CONFIGS["simd"]),
    )
    (tmp_path / "image").write_bytes(image.raw)
    (tmp_path / "input").write_bytes(frames())

    def answers(cycles: int) -> int:
        command = [str(simulator.binary), "--max-cycles", str(cycles)]
        command += ["--load", f"{cfu.ONCHIP_BASE:#x}:{tmp_path / 'image'}"]
        command += ["--uart-input", str(tmp_path / "input")]
        command += ["--uart-output", str(tmp_path / "output")]
        subprocess.run(command, stderr=subprocess.DEVNULL, check=False, cwd=tmp_path)
        return (tmp_path / "output").read_bytes().count(b"\0")

    # A byte may take as long as it takes to come, on the board with the slowest clock.
    budget = _SLOWEST_CLOCK_HZ * 10 // SERIAL_BAUD
    first = answers(start_cycles)
    assert 0 < first < _FRAMES // 2
    later = answers(start_cycles + budget * 8 * SERIAL_DATA_BYTES)
    assert later - first >= 8
